import '../../forms/switch.css';
import type { Role } from '@homeport/contracts/fields';
import { Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { publicConfigQuery } from '../../api/queries.ts';
import { ChoiceChips } from '../../forms/choice-chips.tsx';
import { useText } from '../../i18n/i18n.ts';
import classes from '../admin.module.css';

/** Fields of the forms that create accounts. */
export type AccountChoices = { role: Role; providerSettingsEnabled: boolean; mcpSettingsEnabled: boolean };

export const newAccountChoices: AccountChoices = {
  role: 'user',
  providerSettingsEnabled: true,
  mcpSettingsEnabled: true,
};

/** The managed edition has one catalogue and no switch for it. */
export function useIsManaged(): boolean {
  return useQuery(publicConfigQuery).data?.edition === 'managed';
}

/** The choices as the API accepts them, without switches that the edition lacks. */
export function choicesBody({ role, ...switches }: AccountChoices, isManaged: boolean) {
  const { providerSettingsEnabled, mcpSettingsEnabled } = switches;
  return { role, mcpSettingsEnabled, ...(isManaged ? {} : { providerSettingsEnabled }) };
}

export function RoleField({ value, onChange }: { value: Role; onChange: (role: Role) => void }) {
  const t = useText();
  return (
    <ChoiceChips
      legend={t('users.role')}
      options={[
        { value: 'user', label: t('users.roleUser') },
        { value: 'admin', label: t('users.roleAdmin') },
      ]}
      value={value}
      onChange={onChange}
      hint={t(value === 'admin' ? 'users.roleAdminHint' : 'users.roleUserHint')}
    />
  );
}

/** Switches for a user's permissions. Administrators have all of them, so nothing is rendered for them. */
export function AccountSwitches({
  values,
  onChange,
}: {
  values: AccountChoices;
  onChange: (change: Partial<AccountChoices>) => void;
}) {
  const t = useText();
  const isManaged = useIsManaged();
  if (values.role === 'admin') return null;
  return (
    <div className={classes.switches}>
      {isManaged ? null : (
        <Switch
          checked={values.providerSettingsEnabled}
          onChange={(event) => onChange({ providerSettingsEnabled: event.currentTarget.checked })}
          label={t('users.providerSwitch')}
          description={t('users.providerSwitchHint')}
        />
      )}
      <Switch
        checked={values.mcpSettingsEnabled}
        onChange={(event) => onChange({ mcpSettingsEnabled: event.currentTarget.checked })}
        label={t('users.mcpSwitch')}
        description={t('users.mcpSwitchHint')}
      />
    </div>
  );
}

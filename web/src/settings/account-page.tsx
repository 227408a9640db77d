import { Button, useMantineColorScheme } from '@mantine/core';
import { ChangePasswordForm } from '../forms/change-password-form.tsx';
import { ChoiceChips } from '../forms/choice-chips.tsx';
import { useSignOut } from '../frame/sign-out.ts';
import { showToast } from '../frame/toasts.tsx';
import { useText } from '../i18n.ts';
import { useWorkbench } from '../workbench.ts';
import { ProfileForm } from './profile-form.tsx';
import { Card, Section } from './section.tsx';
import { SessionsCard } from './sessions-card.tsx';

const schemes = ['auto', 'light', 'dark'] as const;

/** `/settings/account` */
export function AccountPage() {
  const t = useText();
  const { user } = useWorkbench();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const signOut = useSignOut();
  return (
    <Section title={t('settings.account')} text={t('account.text')}>
      <Card title={t('account.profile')}>
        <ProfileForm user={user} />
      </Card>
      <Card title={t('account.appearance')} text={t('account.appearanceText')}>
        <ChoiceChips
          legend={t('theme.label')}
          isLegendHidden
          options={schemes.map((scheme) => ({ value: scheme, label: t(`theme.${scheme}`) }))}
          value={colorScheme}
          onChange={setColorScheme}
        />
      </Card>
      <Card title={t('account.password')} text={t('account.passwordText')}>
        <ChangePasswordForm email={user.email} onChanged={() => showToast(t('password.done'))} />
      </Card>
      <SessionsCard />
      <Card
        title={t('account.signOut')}
        text={t('account.signOutText')}
        action={
          <Button variant="default" onClick={() => void signOut()}>
            {t('account.signOut')}
          </Button>
        }
      />
    </Section>
  );
}

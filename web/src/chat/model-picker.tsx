import type { Chat } from '@homeport/contracts/conversations';
import { Menu, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronDown, Pin, Settings2 } from 'lucide-react';
import { Fragment, useState } from 'react';
import { i18n, useText } from '../i18n.ts';
import { catalogueQuery } from '../queries.ts';
import { effectiveModel, enabledModels, groupByTier } from './model-choice.ts';
import classes from './model-picker.module.css';
import type { ModelDecision } from './submission.ts';

/** The menu's value for "follow the default"; no model id has a space. */
const followDefault = ' default';

type Props = {
  chat: Chat | undefined;
  decision: ModelDecision;
  onChange: (decision: ModelDecision) => void;
  isDisabled: boolean;
};

/** Chooses who answers: the default, or a model for this conversation or for one turn. */
export function ModelPicker({ chat, decision, onChange, isDisabled }: Props) {
  const t = useText();
  const { data } = useQuery(catalogueQuery);
  const [keeps, setKeeps] = useState(true);
  const models = enabledModels(data?.providers ?? []);
  const { model, kind } = effectiveModel(models, decision, chat);
  const standard = models.find((each) => each.isDefault);
  const name = model?.displayName ?? t(data ? 'model.none' : 'app.loading');
  const choose = (modelId: string, isKept: boolean) =>
    onChange(isKept ? { kind: 'pin', modelId } : { kind: 'once', modelId });
  const changeKeeps = (isKept: boolean) => {
    setKeeps(isKept);
    if (model && kind !== 'default') choose(model.id, isKept);
  };
  const change = (value: string) => {
    if (value !== followDefault) choose(value, keeps);
    else onChange(chat?.modelPinned ? { kind: 'default' } : { kind: 'keep' });
  };
  return (
    <Menu position="top-start" width={300} shadow="md" offset={8}>
      <Menu.Target>
        <UnstyledButton
          className={classes.target}
          aria-label={t('model.label', { name })}
          disabled={isDisabled || models.length === 0}
        >
          {kind === 'pin' ? <Pin size={13} aria-hidden /> : null}
          <span className={classes.name}>{name}</span>
          {kind === 'once' ? <span className={classes.mark}>{t('model.once')}</span> : null}
          <ChevronDown size={14} aria-hidden className={classes.chevron} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown aria-label={t('model.choose')}>
        <div className={classes.list}>
          <Menu.RadioGroup value={kind === 'default' ? followDefault : (model?.id ?? null)} onChange={change}>
            <Choice value={followDefault} label={t('model.default')} detail={standard?.displayName ?? ''} />
            {groupByTier(data?.providers ?? [], data?.modelTiers ?? []).map((group) => (
              <Fragment key={group.tier.value}>
                <Menu.Label>{group.tier.label}</Menu.Label>
                {group.models.map((each) => (
                  <Choice
                    key={each.id}
                    value={each.id}
                    label={each.displayName}
                    detail={t('model.context', { count: compact(each.contextWindow) })}
                  />
                ))}
              </Fragment>
            ))}
          </Menu.RadioGroup>
        </div>
        <Menu.Divider />
        <Menu.CheckboxItem checked={keeps} onChange={changeKeeps}>
          {t('model.pin')}
        </Menu.CheckboxItem>
        {data?.canEdit ? (
          <Menu.Item component={Link} to="/settings/models" leftSection={<Settings2 size={15} aria-hidden />}>
            {t('model.settings')}
          </Menu.Item>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}

function Choice({ value, label, detail }: { value: string; label: string; detail: string }) {
  return (
    <Menu.RadioItem value={value} closeMenuOnClick>
      <span className={classes.choice}>
        <span className={classes.name}>{label}</span>
        <span className={classes.detail}>{detail}</span>
      </span>
    </Menu.RadioItem>
  );
}

function compact(count: number): string {
  return new Intl.NumberFormat(i18n.locale, { notation: 'compact' }).format(count);
}

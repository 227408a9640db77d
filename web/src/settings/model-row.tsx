import 'virtual:texts/catalogue';
import '../forms/switch.css';
import type { Model, ModelTier } from '@homeport/contracts/catalogue/catalogue';
import { ActionIcon, Menu, Switch } from '@mantine/core';
import { Ellipsis, PencilLine, Star, Trash2 } from 'lucide-react';
import { useState } from 'react';
import classes from '../catalogue/catalogue-card.module.css';
import { isSmallForTools } from '../catalogue/models/model-facts.ts';
import { numberLocale } from '../i18n/format-locale.ts';
import { useText } from '../i18n/i18n.ts';
import { tierLabel } from '../i18n/tier-label.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { useCatalogueChanges } from './use-catalogue-changes.ts';

/** One model: its facts, its switch and its menu. */
export function ModelRow({
  model,
  tiers,
  canEdit,
  onEdit,
}: {
  model: Model;
  tiers: readonly ModelTier[];
  canEdit: boolean;
  onEdit: () => void;
}) {
  const t = useText();
  const { displayName: name } = model;
  const changes = useCatalogueChanges();
  const [isDeleting, setDeleting] = useState(false);
  const known = tiers.find(({ value }) => value === model.tier);
  const tier = known ? tierLabel(known, t) : t('model.unknownTier', { value: model.tier });
  const sizes = { context: compact(model.contextWindow), output: compact(model.maxOutputTokens) };
  return (
    <li className={classes.model} data-off={model.enabled ? undefined : true}>
      <div className={classes.about}>
        <div className={classes.name}>
          <bdi>{name}</bdi>
          {model.isDefault ? <span className={classes.badge}>{t('models.default')}</span> : null}
          <span className={classes.tier}>{tier}</span>
        </div>
        <div className={classes.detail}>
          {model.providerModelId === name ? null : <span>{model.providerModelId}</span>}
          <span>{t('models.contextFact', sizes)}</span>
          <span>{t('models.outputFact', sizes)}</span>
        </div>
        {isSmallForTools(model) ? <div className={classes.small}>{t('facts.smallWindow')}</div> : null}
      </div>
      {canEdit ? (
        <>
          <Switch
            checked={model.enabled}
            onChange={(event) => void changes.switchModel(model, event.currentTarget.checked)}
            aria-label={t('models.enabled', { name })}
            size="md"
          />
          <Menu position="bottom-end" width={190}>
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" size={30} aria-label={t('models.options', { name })}>
                <Ellipsis size={18} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<PencilLine size={15} aria-hidden />} onClick={onEdit}>
                {t('form.edit')}
              </Menu.Item>
              {model.enabled && !model.isDefault ? (
                <Menu.Item leftSection={<Star size={15} aria-hidden />} onClick={() => void changes.makeDefault(model)}>
                  {t('models.makeDefault')}
                </Menu.Item>
              ) : null}
              <Menu.Item leftSection={<Trash2 size={15} aria-hidden />} onClick={() => setDeleting(true)}>
                {t('form.delete')}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      ) : null}
      {isDeleting ? (
        <ConfirmDialog
          title={t('models.deleteTitle', { name })}
          text={t('models.deleteText')}
          confirmLabel={t('models.deleteConfirm')}
          onConfirm={() => {
            setDeleting(false);
            void changes.deleteModel(model);
          }}
          onClose={() => setDeleting(false)}
        />
      ) : null}
    </li>
  );
}

function compact(count: number): string {
  return new Intl.NumberFormat(numberLocale(), { notation: 'compact', useGrouping: 'always' }).format(count);
}

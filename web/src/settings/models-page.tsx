import type { Model, Provider } from '@homeport/contracts/catalogue/catalogue';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { type CatalogueOwner, useCatalogueOwner } from '../catalogue/catalogue-api.ts';
import classes from '../catalogue/catalogue-card.module.css';
import { CatalogueView, useCatalogue } from '../catalogue/catalogue-view.tsx';
import { Notice } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import { FormDialog } from '../layout/dialogs/form-dialog.tsx';
import { Card, EmptyState, Section } from '../layout/section.tsx';
import { AddModelsDialog } from './add-models-dialog.tsx';
import { ModelForm } from './model-form.tsx';
import { ModelRow } from './model-row.tsx';

type Dialog = { kind: 'add'; provider: Provider } | { kind: 'edit'; model: Model };

/** `/settings/models` */
export function ModelsPage() {
  const t = useText();
  const owner = useCatalogueOwner();
  const catalogue = useCatalogue();
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  return (
    <Section
      title={owner ? t('users.modelsOf', { name: owner.name }) : t('settings.models')}
      text={t(owner ? 'users.modelsText' : 'models.text')}
    >
      <CatalogueView>
        {({ providers, modelTiers, canEdit }) =>
          providers.length === 0 ? (
            <EmptyState
              title={t('models.emptyTitle')}
              text={t(canEdit ? 'models.emptyText' : 'providers.emptyReadOnly')}
              action={canEdit ? <ProvidersLink owner={owner} /> : undefined}
            />
          ) : (
            providers.map((provider) => (
              <Card
                key={provider.id}
                title={provider.name}
                text={provider.models.length === 0 ? t('models.emptyProvider') : undefined}
                action={
                  provider.canEdit ? (
                    <Button
                      size="compact-sm"
                      variant="default"
                      leftSection={<Plus size={14} aria-hidden />}
                      aria-label={t('models.addNamed', { name: provider.name })}
                      onClick={() => setDialog({ kind: 'add', provider })}
                    >
                      {t('models.add')}
                    </Button>
                  ) : undefined
                }
              >
                {provider.enabled ? null : <Notice kind="info">{t('models.providerOff')}</Notice>}
                {provider.models.length > 0 ? (
                  <ul className={classes.models}>
                    {provider.models.map((model) => (
                      <ModelRow
                        key={model.id}
                        model={model}
                        tiers={provider.modelTiers ?? modelTiers}
                        canEdit={provider.canEdit}
                        onEdit={() => setDialog({ kind: 'edit', model })}
                      />
                    ))}
                  </ul>
                ) : null}
              </Card>
            ))
          )
        }
      </CatalogueView>
      {dialog?.kind === 'add' && catalogue ? (
        <AddModelsDialog provider={dialog.provider} tiers={catalogue.ownTiers} onClose={close} />
      ) : null}
      {dialog?.kind === 'edit' && catalogue ? (
        <FormDialog title={t('models.editTitle', { name: dialog.model.displayName })} onClose={close}>
          {({ onDirty, cancel }) => (
            <ModelForm
              model={dialog.model}
              tiers={catalogue.ownTiers}
              onSaved={close}
              onDirty={onDirty}
              beside={cancel}
            />
          )}
        </FormDialog>
      ) : null}
    </Section>
  );
}

function ProvidersLink({ owner }: { owner: CatalogueOwner | undefined }) {
  const t = useText();
  if (!owner) {
    return (
      <Button component={Link} to="/settings/providers">
        {t('models.emptyAction')}
      </Button>
    );
  }
  const { userId } = owner;
  return (
    <Button
      renderRoot={(props) => <Link {...props} to="/settings/admin/users/$userId/providers" params={{ userId }} />}
    >
      {t('models.emptyAction')}
    </Button>
  );
}

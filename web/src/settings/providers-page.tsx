import type { Provider } from '@homeport/contracts/catalogue/catalogue';
import type { ListedModel } from '@homeport/contracts/catalogue/model-facts';
import { Button } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useCatalogueOwner } from '../catalogue/catalogue-api.ts';
import { type Catalogue, CatalogueView, useCatalogue } from '../catalogue/catalogue-view.tsx';
import { ProviderForm } from '../catalogue/provider-form.tsx';
import { useText } from '../i18n/i18n.ts';
import { FormDialog } from '../layout/dialogs/form-dialog.tsx';
import { EmptyState, Section } from '../layout/section.tsx';
import { showToast } from '../layout/toasts.tsx';
import { AddModelsDialog } from './add-models-dialog.tsx';
import { ProviderCard } from './provider-card.tsx';

type Dialog =
  | { kind: 'add' }
  | { kind: 'edit'; provider: Provider }
  | { kind: 'models'; provider: Provider; found: readonly ListedModel[] | undefined };

/** `/settings/providers` */
export function ProvidersPage() {
  const t = useText();
  const owner = useCatalogueOwner();
  const catalogue = useCatalogue();
  const [dialog, setDialog] = useState<Dialog>();
  const add = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setDialog({ kind: 'add' })}>
      {t('providers.add')}
    </Button>
  );
  const hasSome = catalogue?.canEdit && catalogue.providers.length > 0;
  return (
    <Section
      title={owner ? t('users.providersOf', { name: owner.name }) : t('settings.providers')}
      text={t(owner ? 'users.providersText' : 'providers.text')}
      action={hasSome ? add : undefined}
    >
      <CatalogueView>
        {({ providers, canEdit }) =>
          providers.length === 0 ? (
            <EmptyState
              title={t('providers.emptyTitle')}
              text={t(canEdit ? 'providers.emptyText' : 'providers.emptyReadOnly')}
              action={canEdit ? add : undefined}
            />
          ) : (
            providers.map((provider) => (
              <ProviderCard
                key={provider.id}
                provider={provider}
                canEdit={provider.canEdit}
                onEdit={() => setDialog({ kind: 'edit', provider })}
                onAddModels={() => setDialog({ kind: 'models', provider, found: undefined })}
              />
            ))
          )
        }
      </CatalogueView>
      {dialog && catalogue ? <OpenDialog dialog={dialog} catalogue={catalogue} onChange={setDialog} /> : null}
    </Section>
  );
}

function OpenDialog({
  dialog,
  catalogue,
  onChange,
}: {
  dialog: Dialog;
  catalogue: Catalogue;
  onChange: (dialog: Dialog | undefined) => void;
}) {
  const t = useText();
  const close = () => onChange(undefined);
  if (dialog.kind === 'models') {
    return (
      <AddModelsDialog provider={dialog.provider} tiers={catalogue.ownTiers} found={dialog.found} onClose={close} />
    );
  }
  const provider = dialog.kind === 'edit' ? dialog.provider : undefined;
  const onSaved = (saved: Provider, found: readonly ListedModel[] | undefined) => {
    if (provider) return close();
    showToast(t('providers.addedNext', { name: saved.name }));
    onChange({ kind: 'models', provider: saved, found });
  };
  return (
    <FormDialog
      key={dialog.kind}
      title={provider ? t('providers.editTitle', { name: provider.name }) : t('providers.addTitle')}
      onClose={close}
    >
      {({ onDirty, cancel }) => (
        <ProviderForm
          provider={provider}
          submitLabel={t(provider ? 'form.save' : 'providers.add')}
          onSaved={onSaved}
          onDirty={onDirty}
          beside={cancel}
        />
      )}
    </FormDialog>
  );
}

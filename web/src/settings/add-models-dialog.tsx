import type { ModelTier, Provider } from '@homeport/contracts/catalogue';
import type { ListedModel } from '@homeport/contracts/model-facts';
import { ModelChooser } from '../catalogue/model-chooser.tsx';
import { FormDialog } from '../frame/form-dialog.tsx';
import { showToast } from '../frame/toasts.tsx';
import { useText } from '../i18n.ts';

/** Picks models of a provider to add. */
export function AddModelsDialog({
  provider,
  tiers,
  found,
  onClose,
}: {
  provider: Provider;
  tiers: readonly ModelTier[];
  found?: readonly ListedModel[] | undefined;
  onClose: () => void;
}) {
  const t = useText();
  return (
    <FormDialog title={t('models.addTitle', { name: provider.name })} onClose={onClose}>
      {({ onDirty, cancel }) => (
        <ModelChooser
          provider={provider}
          tiers={tiers}
          found={found}
          submitLabel={(count) => t('setup.modelsAction', { count })}
          onAdded={(models) => {
            showToast(t('models.added', { count: models.length }));
            onClose();
          }}
          onDirty={onDirty}
          beside={cancel}
        />
      )}
    </FormDialog>
  );
}

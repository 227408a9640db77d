import type { ModelTier, Provider } from '@homeport/contracts/catalogue/catalogue';
import type { ListedModel } from '@homeport/contracts/catalogue/model-facts';
import { ModelChooser } from '../catalogue/models/model-chooser.tsx';
import { useText } from '../i18n/i18n.ts';
import { FormDialog } from '../layout/dialogs/form-dialog.tsx';
import { showToast } from '../layout/toasts.tsx';

/** Picks models of a provider to add. */
export function AddModelsDialog({
  provider,
  tiers,
  found,
  onClose,
}: {
  provider: Provider;
  tiers: readonly ModelTier[];
  found?: readonly ListedModel[];
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

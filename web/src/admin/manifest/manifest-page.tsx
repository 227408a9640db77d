import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../layout/dialogs/confirm-dialog.tsx';
import { UnsavedGuard } from '../../layout/dialogs/unsaved-guard.tsx';
import { focusSectionTitle, Section } from '../../layout/section.tsx';
import { showToast } from '../../layout/toasts.tsx';
import { ManifestFaults } from './manifest-faults.tsx';
import { ManifestInput, type ManifestSource } from './manifest-input.tsx';
import { ManifestReport } from './manifest-report.tsx';
import { useProvision } from './use-provision.ts';

/** `/settings/admin/manifest`: previews a manifest; only the previewed manifest can be applied. */
export function ManifestPage() {
  const t = useText();
  const queries = useQueryClient();
  const [source, setSource] = useState<ManifestSource>({ text: '' });
  const [isAsking, setAsking] = useState(false);
  const provision = useProvision();
  const state = provision.stateFor(source);
  const apply = async () => {
    setAsking(false);
    if (!(await provision.run(source, false))) return;
    showToast(t('manifest.applied'));
    setSource({ text: '' });
    focusSectionTitle();
    await queries.invalidateQueries();
  };
  const isEmpty = 'text' in source && source.text.trim() === '';
  return (
    <Section title={t('settings.manifest')} text={t('manifest.text')}>
      <UnsavedGuard isDirty={!isEmpty} />
      <ManifestInput
        source={source}
        isBusy={provision.isRunning}
        onChange={setSource}
        onTry={() => void provision.run(source, true)}
      />
      {state.kind === 'faulty' ? <ManifestFaults source={source} faults={state.faults} /> : null}
      {state.kind === 'failed' ? <FormFailure failure={state.failure} /> : null}
      {state.kind === 'done' ? (
        <ManifestReport report={state.report} isBusy={provision.isRunning} onApply={() => setAsking(true)} />
      ) : null}
      {isAsking ? (
        <ConfirmDialog
          title={t('manifest.applyTitle')}
          text={t('manifest.applyText')}
          confirmLabel={t('manifest.apply')}
          isGentle
          onConfirm={() => void apply()}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </Section>
  );
}

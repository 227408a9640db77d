import type { FieldError } from '@homeport/contracts/errors';
import type { ProvisionReport } from '@homeport/contracts/provision/provision';
import { useState } from 'react';
import { sendManifest } from '../../api/api.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { readFieldErrors } from '../../forms/use-api-form.ts';
import { type Translate, useText } from '../../i18n/i18n.ts';
import type { ManifestSource } from './manifest-input.tsx';
import { brokenJsonLine, isJson } from './manifest-lines.ts';

export type ManifestFault = FieldError & { line?: number };
type Outcome =
  | { kind: 'none' }
  | { kind: 'done'; report: ProvisionReport }
  | { kind: 'faulty'; faults: readonly ManifestFault[] }
  | { kind: 'failed'; failure: unknown };

const none: Outcome = { kind: 'none' };

/** Previews and applies manifests, one at a time. A result belongs to its manifest; the last applied one stays. */
export function useProvision() {
  const t = useText();
  const [outcome, setOutcome] = useState<Outcome>(none);
  const [about, setAbout] = useState<ManifestSource>();
  const [isRunning, setRunning] = useState(false);
  const run = async (source: ManifestSource, dryRun: boolean): Promise<boolean> => {
    setRunning(true);
    const next = await provision(source, dryRun, t);
    setRunning(false);
    setOutcome(next);
    setAbout(source);
    return next.kind === 'done';
  };
  const isApplied = outcome.kind === 'done' && !outcome.report.dryRun;
  return {
    isRunning,
    run,
    stateFor: (source: ManifestSource): Outcome => {
      if (isApplied) return 'text' in source && source.text === '' ? outcome : none;
      return source === about ? outcome : none;
    },
  };
}

async function provision(source: ManifestSource, dryRun: boolean, t: Translate): Promise<Outcome> {
  const json = 'text' in source ? isJson(source.text) : /\.json$/i.test(source.file.name);
  // The server does not repeat its input, but the line can be determined here.
  const line = json && 'text' in source ? brokenJsonLine(source.text) : undefined;
  if (line !== undefined) return { kind: 'faulty', faults: [{ path: '', message: t('manifest.brokenJson'), line }] };
  try {
    const body = 'text' in source ? source.text : source.file;
    const report = await sendManifest(body, json ? 'application/json' : 'application/yaml', dryRun);
    return { kind: 'done', report };
  } catch (failure) {
    const faults = failure instanceof ApiFailure ? readFieldErrors(failure.details) : [];
    return faults.length > 0 ? { kind: 'faulty', faults } : { kind: 'failed', failure };
  }
}

import type { FoundServer } from '@homeport/contracts/catalogue/catalogue';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { FormFailure, Notice } from '../forms/notice.tsx';
import { useText } from '../i18n/i18n.ts';
import classes from './provider-form.module.css';

type Result = { kind: 'found'; allowed: boolean; servers: FoundServer[] } | { kind: 'failed'; failure: unknown };

/** Looks for model servers at their usual ports on this machine, and fills in the one that is chosen. */
export function FindServers({ onUse }: { onUse: (server: FoundServer) => void }) {
  const t = useText();
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState<Result>();
  const find = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      setResult({ kind: 'found', ...(await call('POST /api/providers/find', {})) });
    } catch (failure) {
      setResult({ kind: 'failed', failure });
    }
    setBusy(false);
  };
  return (
    <div className={classes.find}>
      <Button size="compact-sm" variant="default" aria-disabled={isBusy} onClick={() => void find()}>
        {t(isBusy ? 'preset.finding' : 'preset.find')}
      </Button>
      <div role="status" className={classes.found}>
        {result?.kind === 'found' && result.servers.length === 0 ? (
          <Notice kind="info">{t(result.allowed ? 'preset.none' : 'preset.closed')}</Notice>
        ) : null}
        {result?.kind === 'found'
          ? result.servers.map((server) => (
              <Button
                key={server.baseUrl}
                size="compact-sm"
                variant="light"
                onClick={() => onUse(server)}
                aria-label={t('preset.use', { name: server.name, address: server.baseUrl })}
              >
                {server.name} · {server.baseUrl} ·{' '}
                {server.needsKey ? t('preset.needsKey') : t('preset.found', { count: server.models })}
              </Button>
            ))
          : null}
      </div>
      {result?.kind === 'failed' ? <FormFailure failure={result.failure} /> : null}
    </div>
  );
}

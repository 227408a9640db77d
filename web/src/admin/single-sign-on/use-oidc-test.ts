import type { OidcCheck } from '@homeport/contracts/accounts/single-sign-on';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../api/api.ts';
import { connectionOf, type SingleSignOnValues, singleSignOnPatch } from './single-sign-on-values.ts';

export type OidcTestState =
  | { kind: 'idle' }
  | { kind: 'running' }
  | { kind: 'checked'; isOk: boolean; checks: readonly OidcCheck[] }
  | { kind: 'failed'; failure: unknown };

const idle: OidcTestState = { kind: 'idle' };

/** Tests the form's values with the identity provider; a result is valid as long as nothing relevant changes. */
export function useOidcTest() {
  const [state, setState] = useState<OidcTestState>(idle);
  const [tested, setTested] = useState('');
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const stateFor = (values: SingleSignOnValues) => (tested === connectionOf(values) ? state : idle);
  return {
    isRunning: state.kind === 'running',
    stateFor,
    hasPassed: (values: SingleSignOnValues) => {
      const now = stateFor(values);
      return now.kind === 'checked' && now.isOk;
    },
    /** True when every check passed. */
    run: async (values: SingleSignOnValues): Promise<boolean> => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      setTested(connectionOf(values));
      setState({ kind: 'running' });
      try {
        const { signal } = controller;
        const { ok, checks } = await call('POST /api/admin/oidc-test', {
          body: { oidc: singleSignOnPatch(values) },
          signal,
        });
        setState({ kind: 'checked', isOk: ok, checks });
        return ok;
      } catch (failure) {
        if (!controller.signal.aborted) setState({ kind: 'failed', failure });
        return false;
      }
    },
  };
}

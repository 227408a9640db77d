import type { ListedModel } from '@homeport/contracts/catalogue/model-facts';
import { useEffect, useRef, useState } from 'react';
import type { CallOptions } from '../api/api.ts';
import { useCatalogueApi } from './catalogue-api.ts';

export type ProviderTestBody = CallOptions<'POST /api/providers/test'>['body'];
export type ProviderTestState =
  | { kind: 'idle' }
  | { kind: 'running' }
  | { kind: 'found'; models: readonly ListedModel[] }
  | { kind: 'failed'; failure: unknown };

/** Asks a provider for its models, one request at a time; only the latest counts, and leaving the page ends it. */
export function useProviderTest(): {
  state: ProviderTestState;
  run: (body: ProviderTestBody) => Promise<readonly ListedModel[] | undefined>;
} {
  const [state, setState] = useState<ProviderTestState>({ kind: 'idle' });
  const api = useCatalogueApi();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const run = async (body: ProviderTestBody) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    setState({ kind: 'running' });
    try {
      const { models } = await api.testProvider(body, controller.signal);
      setState({ kind: 'found', models });
      return models;
    } catch (failure) {
      if (!controller.signal.aborted) setState({ kind: 'failed', failure });
      return undefined;
    }
  };
  return { state, run };
}

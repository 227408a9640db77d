import type { Model, Provider } from '@homeport/contracts/catalogue/catalogue';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { catalogueQuery } from '../api/queries.ts';
import { useCatalogueApi } from '../catalogue/catalogue-api.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { focusSectionTitle } from '../layout/section.tsx';
import { showFailure, showToast } from '../layout/toasts.tsx';
import { createSerialQueue } from '../serial-queue.ts';

/**
 * Changes made by one click. They are optimistic: shown immediately, reverted if the server refuses. A changed default
 * is announced.
 */
export function useCatalogueChanges() {
  const t = useText();
  const queries = useQueryClient();
  const api = useCatalogueApi();
  const { queryKey } = api.query;

  const models = () => queries.getQueryData(queryKey)?.providers.flatMap((provider) => provider.models) ?? [];
  const [changes] = useState(createSerialQueue);
  const run = async (work: () => Promise<{ defaultModelId: string | null }>): Promise<boolean> => {
    const before = models().find((model) => model.isDefault)?.id;
    try {
      const { defaultModelId } = await changes.run(work);
      await queries.invalidateQueries({ queryKey: catalogueQuery.queryKey });
      const now = models().find((model) => model.id === defaultModelId);
      if (now && now.id !== before) showToast(t('models.defaultMoved', { name: now.displayName }));
      return true;
    } catch (error) {
      showFailure(t('settings.changeFailed'), failureText(error, t));
      await queries.invalidateQueries({ queryKey: catalogueQuery.queryKey });
      return false;
    }
  };
  const show = (change: (provider: Provider) => Provider) =>
    queries.setQueryData(queryKey, (catalogue) =>
      catalogue ? { ...catalogue, providers: catalogue.providers.map(change) } : catalogue,
    );
  const showModel = (id: string, change: Partial<Model>) =>
    show((provider) => ({
      ...provider,
      models: provider.models.map((model) => (model.id === id ? { ...model, ...change } : model)),
    }));

  return {
    switchProvider: ({ id }: Provider, enabled: boolean) => {
      show((provider) => (provider.id === id ? { ...provider, enabled } : provider));
      return run(() => api.changeProvider({ id, enabled }));
    },
    deleteProvider: async ({ id, name }: Provider) => {
      if (!(await run(() => api.deleteProvider(id)))) return;
      showToast(t('providers.deleted', { name }));
      focusSectionTitle();
    },
    switchModel: ({ id }: Model, enabled: boolean) => {
      showModel(id, { enabled });
      return run(() => api.changeModel({ id, enabled }));
    },
    makeDefault: ({ id }: Model) => run(() => api.changeModel({ id, isDefault: true })),
    deleteModel: async ({ id, displayName }: Model) => {
      if (!(await run(() => api.deleteModel(id)))) return;
      showToast(t('models.deleted', { name: displayName }));
      focusSectionTitle();
    },
  };
}

import type { Model, Provider } from '@homeport/contracts/catalogue';
import { useQueryClient } from '@tanstack/react-query';
import { call } from '../api.ts';
import { failureText } from '../failure-text.ts';
import { showFailure, showToast } from '../frame/toasts.tsx';
import { useText } from '../i18n.ts';
import { catalogueQuery } from '../queries.ts';
import { focusSectionTitle } from './section.tsx';

/** Changes that one click makes. They show at once and go back when the server refuses; a default that moved is told. */
export function useCatalogueChanges() {
  const t = useText();
  const queries = useQueryClient();
  const { queryKey } = catalogueQuery;

  const models = () => queries.getQueryData(queryKey)?.providers.flatMap((provider) => provider.models) ?? [];
  const run = async (work: () => Promise<{ defaultModelId: string | null }>): Promise<boolean> => {
    const before = models().find((model) => model.isDefault)?.id;
    try {
      const { defaultModelId } = await work();
      await queries.invalidateQueries({ queryKey });
      const now = models().find((model) => model.id === defaultModelId);
      if (now && now.id !== before) showToast(t('models.defaultMoved', { name: now.displayName }));
      return true;
    } catch (error) {
      showFailure(t('settings.changeFailed'), failureText(error, t));
      await queries.invalidateQueries({ queryKey });
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
      return run(() => call('PATCH /api/providers', { body: { id, enabled } }));
    },
    deleteProvider: async ({ id, name }: Provider) => {
      if (!(await run(() => call('DELETE /api/providers', { query: { id } })))) return;
      showToast(t('providers.deleted', { name }));
      focusSectionTitle();
    },
    switchModel: ({ id }: Model, enabled: boolean) => {
      showModel(id, { enabled });
      return run(() => call('PATCH /api/models', { body: { id, enabled } }));
    },
    makeDefault: ({ id }: Model) => run(() => call('PATCH /api/models', { body: { id, isDefault: true } })),
    deleteModel: async ({ id, displayName }: Model) => {
      if (!(await run(() => call('DELETE /api/models', { query: { id } })))) return;
      showToast(t('models.deleted', { name: displayName }));
      focusSectionTitle();
    },
  };
}

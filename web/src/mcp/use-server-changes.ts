import type { McpServer, ToolPolicy } from '@homeport/contracts/mcp/mcp';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../api/api.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import { focusSectionTitle } from '../layout/section.tsx';
import { showFailure, showToast } from '../layout/toasts.tsx';
import { createSerialQueue } from '../serial-queue.ts';
import { type McpApi, mcpServersQuery } from './mcp-api.ts';

export type ServerChanges = ReturnType<typeof useServerChanges>;

/** Changes that take one click: shown at once, made one after another, reverted if the server refuses. */
export function useServerChanges(api: McpApi, userId: string | undefined) {
  const t = useText();
  const queries = useQueryClient();
  return useMemo(() => {
    const { queryKey } = mcpServersQuery(userId);
    const show = (id: string, change: Partial<McpServer>) =>
      queries.setQueryData(queryKey, (known) =>
        known
          ? { ...known, servers: known.servers.map((each) => (each.id === id ? { ...each, ...change } : each)) }
          : known,
      );
    const changes = createSerialQueue();
    const run = async (work: () => Promise<unknown>): Promise<boolean> => {
      // A request in flight doesn't contain this change.
      void queries.cancelQueries({ queryKey });
      try {
        await changes.run(work);
        return true;
      } catch (error) {
        showFailure(t('settings.changeFailed'), failureText(error, t));
        return false;
      } finally {
        if (changes.isIdle) await queries.invalidateQueries({ queryKey });
      }
    };
    return {
      setEnabled: ({ id }: McpServer, enabled: boolean) => {
        show(id, { enabled });
        return run(() => api.change({ id, enabled }));
      },
      /** `allow` is a tool's default policy. */
      setPolicies: ({ id, toolPolicies }: McpServer, names: readonly string[], policy: ToolPolicy) => {
        const kept = Object.entries(toolPolicies).filter(([name]) => !names.includes(name));
        const next = policy === 'allow' ? [] : names.map((name) => [name, policy] as const);
        const changed = Object.fromEntries([...kept, ...next]);
        show(id, { toolPolicies: changed });
        return run(() => api.change({ id, toolPolicies: changed }));
      },
      signOut: ({ id }: McpServer) => run(() => call('DELETE /api/mcp/connect', { query: { id } })),
      remove: async ({ id, name }: McpServer) => {
        if (!(await run(() => api.remove(id)))) return;
        showToast(t('mcp.deleted', { name }));
        focusSectionTitle();
      },
    };
  }, [api, userId, queries, t]);
}

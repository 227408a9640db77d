import type { ModelFacts } from '@homeport/contracts/catalogue/model-facts';
import type { Egress } from '../../egress/egress.ts';
import { Semaphore } from '../../platform/concurrency/semaphore.ts';
import { parseForeignJson } from '../../platform/json/json-scan.ts';
import { listedFacts } from '../registry/listed-facts.ts';
import type { ListedEntry } from './model-list.ts';

/**
 * Context windows of Ollama and LM Studio, which run a model with a smaller window than its maximum and silently cut
 * longer input. Their lists in OpenAI's style omit the window; their own endpoints report it. All responses are
 * untrusted, and missing values are ignored.
 */

/** How a server was asked for its list, and its own endpoints beside it. */
export type LocalServer = { baseUrl: string; headers: Record<string, string> };

const bounds = { models: 40, atOnce: 4, bodyBytes: 2 * 1024 * 1024, totalMs: 8_000 } as const;

/** Adds the facts that the server reports about each model to the list; unchanged for other servers. */
export async function withLoadedWindows(
  deps: { egress: Pick<Egress, 'request'> },
  server: LocalServer,
  list: { entries: readonly ListedEntry[]; owners: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<readonly ListedEntry[]> {
  const { port } = new URL(server.baseUrl);
  const ask = askerOf(deps, server, AbortSignal.any([signal, AbortSignal.timeout(bounds.totalMs)]));
  if (list.owners.has('library') || port === '11434') return askOllama(ask, list.entries);
  if (list.owners.has('organization_owner') || port === '1234') return askLmStudio(ask, list.entries);
  return list.entries;
}

type Ask = (path: string, body?: object) => Promise<Foreign>;
type Foreign = Readonly<Record<string, unknown>>;

/** Asks below the base URL without its version; an answer that is of no use is an empty one. */
function askerOf(deps: { egress: Pick<Egress, 'request'> }, server: LocalServer, signal: AbortSignal): Ask {
  const root = new URL(server.baseUrl);
  const folder = root.pathname.replace(/(?:\/v\d{1,3})?\/{0,8}$/, '');
  const slots = new Semaphore(bounds.atOnce);
  return (path, body) =>
    slots
      .run(async () => {
        const url = new URL(root.origin);
        url.pathname = `${folder}${path}`;
        const response = await deps.egress.request(url.href, {
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
          headers: { accept: 'application/json', 'content-type': 'application/json', ...server.headers },
          signal,
          totalTimeoutMs: bounds.totalMs,
          maxRedirects: 0,
          maxResponseBytes: bounds.bodyBytes,
        });
        try {
          if (response.status !== 200) return {};
          const answer = parseForeignJson(await response.body.text(bounds.bodyBytes));
          return isRecord(answer) ? answer : {};
        } finally {
          response.body.destroy();
        }
      }, signal)
      .catch(() => ({}));
}

async function askOllama(ask: Ask, entries: readonly ListedEntry[]): Promise<ListedEntry[]> {
  const { models } = await ask('/api/ps');
  const loaded = new Map(records(models).map((model) => [model.model ?? model.name, count(model.context_length)]));
  return Promise.all(
    entries.map(async (entry, place) => {
      if (place >= bounds.models) return entry;
      const facts = ollamaFacts(await ask('/api/show', { model: entry.id }), loaded.get(entry.id));
      return { ...entry, facts: { ...entry.facts, ...facts } };
    }),
  );
}

/** Facts from `/api/show`; a loaded or configured window takes precedence over the model's maximum. */
function ollamaFacts(shown: Foreign, loaded: number | undefined): ModelFacts {
  const info = isRecord(shown.model_info) ? shown.model_info : {};
  const possible = Object.entries(info).find(([name]) => name.endsWith('.context_length'))?.[1];
  const parameters = typeof shown.parameters === 'string' ? shown.parameters.slice(0, 10_000) : '';
  const set = /^num_ctx\s{1,40}(\d{1,9})\s*$/m.exec(parameters)?.[1];
  const able = Array.isArray(shown.capabilities) ? shown.capabilities : undefined;
  return {
    ...windows(loaded ?? count(Number(set)), count(possible)),
    ...(able === undefined
      ? {}
      : {
          chat: able.includes('completion'),
          abilities: {
            images: able.includes('vision'),
            tools: able.includes('tools'),
            reasoning: able.includes('thinking') ? [] : false,
          },
        }),
  };
}

async function askLmStudio(ask: Ask, entries: readonly ListedEntry[]): Promise<ListedEntry[]> {
  const { data } = await ask('/api/v0/models');
  const known = new Map(records(data).map((model) => [model.id, model]));
  return entries.map((entry) => {
    const model = known.get(entry.id);
    if (model === undefined) return entry;
    const { abilities } = listedFacts(model);
    const loaded = model.state === 'not-loaded' ? undefined : count(model.loaded_context_length);
    const facts: ModelFacts = {
      ...windows(loaded, count(model.max_context_length)),
      ...(typeof model.type === 'string' ? { chat: model.type !== 'embeddings' } : {}),
      abilities: { ...abilities, ...(model.type === 'vlm' ? { images: true } : {}) },
    };
    return { ...entry, facts: { ...entry.facts, ...facts } };
  });
}

function windows(loaded: number | undefined, possible: number | undefined): ModelFacts {
  const contextWindow = loaded ?? possible;
  if (contextWindow === undefined) return {};
  const isLess = possible !== undefined && possible > contextWindow;
  return {
    contextWindow,
    isLoaded: loaded !== undefined,
    ...(isLess ? { possibleWindow: possible } : {}),
  };
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 100_000_000 ? value : undefined;
}

function records(value: unknown): Foreign[] {
  return Array.isArray(value) ? value.slice(0, 10_000).filter(isRecord) : [];
}

function isRecord(value: unknown): value is Foreign {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

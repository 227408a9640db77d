import { limits } from '@homeport/contracts/limits';
import type { ModelFacts } from '@homeport/contracts/model-facts';
import type { ProviderKind } from '@homeport/contracts/provider-kinds';
import { listedFacts } from './registry/listed-facts.ts';

/** Model lists in each protocol, and how to recognize a server's protocol by its answer. */

/** Where each protocol lists its models; what they list at once is more than we accept. */
export const listPaths: Record<ProviderKind, string> = {
  openai: '/models',
  'openai-responses': '/models',
  anthropic: '/models?limit=1000',
  gemini: '/models?pageSize=1000',
};

type Family = 'openai' | 'anthropic' | 'gemini';

const familyNames: Record<Family, string> = {
  openai: 'An OpenAI-style server',
  anthropic: 'A server that uses Anthropic’s protocol',
  gemini: 'A server that uses Google’s Gemini protocol',
};

/** Names the protocol of the server that answered, if it differs from the chosen one. */
export function otherProtocol(kind: ProviderKind, status: number, answer: unknown): string | undefined {
  const family = familyOf(answer);
  const chosen = kind === 'openai-responses' ? 'openai' : kind;
  if (family === undefined || family === chosen) return undefined;
  // Many servers offer several protocols and one list.
  if (status < 300 && chosen !== 'gemini' && family !== 'gemini') return undefined;
  return `${familyNames[family]} answered at this address. Choose that protocol, or check the base URL.`;
}

function familyOf(answer: unknown): Family | undefined {
  const error = Array.isArray(answer) ? member(answer[0], 'error') : member(answer, 'error');
  if (error !== undefined) {
    if (member(answer, 'type') === 'error') return 'anthropic';
    const status = member(error, 'status');
    if (typeof status === 'string' && /^[A-Z][A-Z_]{2,40}$/.test(status)) return 'gemini';
    return typeof member(error, 'message') === 'string' && member(error, 'type') !== undefined ? 'openai' : undefined;
  }
  const [model] = [member(answer, 'models')].flat();
  if (typeof member(model, 'name') === 'string' && member(model, 'supportedGenerationMethods') !== undefined) {
    return 'gemini';
  }
  if (!Array.isArray(member(answer, 'data'))) return undefined;
  return member(answer, 'has_more') === undefined ? 'openai' : 'anthropic';
}

export type ListedEntry = { id: string; facts: ModelFacts };

/**
 * The models of `{data: [{id}]}`, `{models: [{id | name}]}` or a bare array, each once, in order; undefined for
 * anything else.
 */
export function listedModels(kind: ProviderKind, answer: unknown, max: number): ListedEntry[] | undefined {
  const list = Array.isArray(answer) ? answer : (member(answer, 'data') ?? member(answer, 'models'));
  if (!Array.isArray(list)) return undefined;
  const models = new Map<string, ListedEntry>();
  for (const entry of list) {
    const id = idOf(kind, entry);
    if (id !== undefined && !models.has(id)) models.set(id, { id, facts: listedFacts(entry) });
    if (models.size === max) break;
  }
  return [...models.values()];
}

/** Who the models of an OpenAI-style list belong to, which tells some servers apart. */
export function listedOwners(answer: unknown): ReadonlySet<string> {
  const list = member(answer, 'data');
  const owners = Array.isArray(list) ? list.slice(0, 20).map((entry) => member(entry, 'owned_by')) : [];
  return new Set(owners.filter((owner) => typeof owner === 'string'));
}

function idOf(kind: ProviderKind, entry: unknown): string | undefined {
  const id = member(entry, 'id') ?? member(entry, 'name');
  if (!isUsableId(id)) return undefined;
  if (kind !== 'gemini') return id;
  const methods = member(entry, 'supportedGenerationMethods');
  if (Array.isArray(methods) && !methods.includes('generateContent')) return undefined;
  return id.replace(/^models\//, '');
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

// An id that could not be saved unchanged is useless in the list.
function isUsableId(id: unknown): id is string {
  if (typeof id !== 'string' || id === '' || id.length > limits.providerModelIdMax) return false;
  return id.isWellFormed() && id === id.trim() && !/\p{Cc}/u.test(id);
}

import type { ModelFacts } from '@homeport/contracts/catalogue/model-facts';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { limits } from '@homeport/contracts/limits';
import { listedFacts } from '../registry/listed-facts.ts';
import { mapInTurns } from './long-list.ts';

/** Model lists in each protocol, and how to recognize a server's protocol by its answer. */

/** Paths of the model lists by protocol. */
export const listPaths: Record<ProviderKind, string> = {
  openai: '/models',
  'openai-responses': '/models',
  anthropic: '/models?limit=1000',
  gemini: '/models?pageSize=1000',
};

/** A protocol as a server's answers show it. */
export type Family = 'openai' | 'anthropic' | 'gemini';

type Answering = { family: Family; path: string; isListShared: boolean; isAlwaysDoubtful: boolean };

/**
 * Protocol family and answer endpoint of each kind. `isListShared`: servers of the kind can have one list for several
 * protocols. `isAlwaysDoubtful`: no list proves that the server has the endpoint.
 */
const answering: Record<ProviderKind, Answering> = {
  openai: { family: 'openai', path: '/chat/completions', isListShared: true, isAlwaysDoubtful: false },
  'openai-responses': { family: 'openai', path: '/responses', isListShared: true, isAlwaysDoubtful: true },
  anthropic: { family: 'anthropic', path: '/messages', isListShared: true, isAlwaysDoubtful: false },
  gemini: { family: 'gemini', path: '/models', isListShared: false, isAlwaysDoubtful: false },
};

const familyNames: Record<Family, string> = {
  openai: 'An OpenAI-style server',
  anthropic: 'A server that uses Anthropic’s protocol',
  gemini: 'A server that uses Google’s Gemini protocol',
};

export function otherAnswered(family: Family): string {
  return `${familyNames[family]} answered at this address. Choose that protocol, or check the base URL.`;
}

/** The protocol of the server that answered, if it is certainly not the chosen one. */
export function otherProtocol(kind: ProviderKind, status: number, answer: unknown): Family | undefined {
  const family = familyOf(answer);
  if (family === undefined || family === answering[kind].family) return undefined;
  return status < 300 && canShareList(kind, family) ? undefined : family;
}

/**
 * Returns the path of the protocol's answer endpoint if the list does not prove that the server has it; otherwise
 * undefined.
 */
export function doubtfulPath(kind: ProviderKind, answer: unknown): { path: string; family: Family } | undefined {
  const family = familyOf(answer);
  const { family: chosen, path, isAlwaysDoubtful } = answering[kind];
  if (isAlwaysDoubtful) return { path, family: family ?? chosen };
  if (family === undefined || family === chosen || !canShareList(kind, family)) return undefined;
  return { path, family };
}

/** Many servers offer OpenAI's protocols and Anthropic's, with one list for both. */
function canShareList(kind: ProviderKind, family: Family): boolean {
  return answering[kind].isListShared && family !== 'gemini';
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
 * The models of `{data: [{id}]}`, `{models: [{id | model | name}]}` or a bare array, each once, in order; undefined for
 * anything else. Some servers list bare ids, or an object by id.
 */
export async function listedModels(
  kind: ProviderKind,
  answer: unknown,
  max: number,
): Promise<ListedEntry[] | undefined> {
  const found = Array.isArray(answer)
    ? answer
    : (member(answer, 'data') ?? member(answer, 'models') ?? emptyOf(answer));
  const list = Array.isArray(found) ? found : entriesOf(found);
  if (list === undefined) return undefined;
  const models = new Map<string, ListedEntry>();
  await mapInTurns(list.slice(0, max), (entry) => {
    const id = idOf(kind, entry);
    if (id !== undefined && !models.has(id)) models.set(id, { id, facts: listedFacts(entry) });
  });
  return [...models.values()];
}

/** An object whose members are the models. */
function entriesOf(value: unknown): unknown[] | undefined {
  const entries = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return entries.length > 0 && entries.every((entry) => isUsableId(member(entry, 'id'))) ? entries : undefined;
}

/** Some servers write `null` for a list without models. */
function emptyOf(answer: unknown): unknown {
  return member(answer, 'data') === null || member(answer, 'models') === null ? [] : undefined;
}

/** The path of the page after this one; undefined for the last. */
export function nextPagePath(kind: ProviderKind, answer: unknown): string | undefined {
  const token = member(answer, 'nextPageToken');
  if (typeof token === 'string' && isCursor(token)) return withCursor(kind, 'pageToken', token);
  if (member(answer, 'has_more') !== true) return undefined;
  const data = member(answer, 'data');
  const last = member(answer, 'last_id') ?? (Array.isArray(data) ? member(data.at(-1), 'id') : undefined);
  const name = kind === 'anthropic' ? 'after_id' : 'after';
  return typeof last === 'string' && isCursor(last) ? withCursor(kind, name, last) : undefined;
}

function isCursor(text: string): boolean {
  return text !== '' && text.length <= 2_000;
}

function withCursor(kind: ProviderKind, name: string, cursor: string): string {
  const path = listPaths[kind];
  return `${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(cursor)}`;
}

/** Returns the owners of the models in an OpenAI-style list, which identify some servers. */
export function listedOwners(answer: unknown): ReadonlySet<string> {
  const list = member(answer, 'data');
  const owners = Array.isArray(list) ? list.slice(0, 20).map((entry) => member(entry, 'owned_by')) : [];
  return new Set(owners.filter((owner) => typeof owner === 'string'));
}

function idOf(kind: ProviderKind, entry: unknown): string | undefined {
  const id =
    typeof entry === 'string' ? entry : (member(entry, 'id') ?? member(entry, 'model') ?? member(entry, 'name'));
  if (!isUsableId(id)) return undefined;
  return idReaders[kind](id, entry);
}

const unchangedId = (id: string): string => id;

/** Readers of a model's id in the list of each protocol; undefined for a model that cannot answer. */
const idReaders: Record<ProviderKind, (id: string, entry: unknown) => string | undefined> = {
  openai: unchangedId,
  'openai-responses': unchangedId,
  anthropic: unchangedId,
  gemini: geminiId,
};

function geminiId(id: string, entry: unknown): string | undefined {
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

import type { ListedModel } from '@homeport/contracts/catalogue/model-facts';
import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { english } from '@homeport/contracts/error-texts/english';
import { wordError } from '@homeport/contracts/error-texts/word-error';
import { ApiError } from '@homeport/contracts/errors';
import type { Database } from '../../db/pool.ts';
import type { Egress } from '../../egress/egress.ts';
import { assertCustomHeaders } from '../../egress/headers.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { type Credentials, resolveCredentials } from '../credentials.ts';
import { joinedFacts } from '../model-facts.ts';
import { getOwnedProvider } from '../providers.ts';
import { currentRegistry } from '../registry/current-registry.ts';
import { isForChat } from '../registry/registry.ts';
import { isMissing } from './answer-probe.ts';
import { withLoadedWindows } from './loaded-windows.ts';
import { mapInTurns, parseModelList } from './long-list.ts';
import {
  doubtfulPath,
  type Family,
  type ListedEntry,
  listedModels,
  listedOwners,
  listPaths,
  nextPagePath,
  otherAnswered,
  otherProtocol,
} from './model-list.ts';
import { providerHeaders, providerUrl } from './provider-call.ts';
import { TestLanes } from './test-lanes.ts';

export type ProviderTestDeps = {
  db: Pick<Database, 'kysely'>;
  secrets: KeyRing;
  egress: Pick<Egress, 'request'>;
};

/** A stored provider, or a form's values before they are saved; never a stored key with another address. */
export type ProviderTestInput =
  | { id: string }
  | {
      kind?: ProviderKind;
      baseUrl: string;
      apiKey?: string | null;
      headers?: Record<string, string> | undefined;
    };

type Target = { kind: ProviderKind; baseUrl: string; credentials: Credentials };

/** Limits of one test and of one owner's tests; sizes in bytes, times in milliseconds. */
export const providerTestBounds = {
  bodyBytes: 8 * 1024 * 1024,
  totalMs: 15_000,
  models: 10_000,
  pages: 20,
  atOnce: 4,
} as const;

const lanes = new TestLanes(providerTestBounds.atOnce);

/**
 * Requests the list of models through the outbound guard and returns them with what is known of each. Throws
 * `blocked_destination`, `provider_unreachable`, `provider_error` with `details.status` and, if another protocol
 * answered, `details.answered`, `credentials_unreadable`, `not_found`; no message contains anything the other side said.
 */
export async function testProvider(
  deps: ProviderTestDeps,
  owner: string,
  input: ProviderTestInput,
  signal: AbortSignal,
): Promise<ListedModel[]> {
  const target = await findTarget(deps, owner, input);
  const registry = await currentRegistry(deps);
  const listed = await lanes.run(owner, signal, () => askForModels(deps, target, signal));
  return mapInTurns(listed, ({ id, facts }) =>
    joinedFacts(id, facts.chat ?? isForChat(id), facts, registry.find(target.baseUrl, id)),
  );
}

async function askForModels(
  deps: Pick<ProviderTestDeps, 'egress'>,
  { kind, baseUrl, credentials }: Target,
  signal: AbortSignal,
): Promise<readonly ListedEntry[]> {
  const headers = providerHeaders(kind, credentials);
  const { status, body } = await deps.egress.request(providerUrl(kind, baseUrl, listPaths[kind]), {
    headers: { accept: 'application/json', ...headers },
    signal,
    totalTimeoutMs: providerTestBounds.totalMs,
    maxResponseBytes: providerTestBounds.bodyBytes,
    decodes: true,
  });
  try {
    const isFine = status >= 200 && status <= 299;
    const answer = await parseJson(
      await body.text(providerTestBounds.bodyBytes).catch((error) => (isFine ? raise(error) : '')),
    );
    const other = status < 500 && status !== 429 ? otherProtocol(kind, status, answer) : undefined;
    if (other !== undefined) throw providerError(status, otherAnswered(other), other);
    const isMissingVersion = isFine || status === 404 || status === 405;
    const models = isFine ? await listedModels(kind, answer, providerTestBounds.models) : undefined;
    if (models === undefined) {
      const versioned = isMissingVersion
        ? await findVersioned(deps, { kind, baseUrl, credentials }, signal)
        : undefined;
      if (versioned !== undefined) throw missingVersion(status, versioned);
      throw providerError(status, isFine ? notAList : statusAdvice(status));
    }
    await addPages(deps, { kind, baseUrl, headers }, { models, first: answer }, signal);
    const doubt = doubtfulPath(kind, answer);
    const [first] = models;
    if (doubt !== undefined && first !== undefined) {
      const url = providerUrl(kind, baseUrl, doubt.path);
      if (await isMissing(deps, { url, headers, modelId: first.id }, signal)) {
        const advice = kind === 'openai-responses' ? noResponses : otherAnswered(doubt.family);
        throw providerError(404, advice, doubt.family);
      }
    }
    if (kind !== 'openai') return models;
    const list = { entries: models, owners: listedOwners(answer) };
    return await withLoadedWindows(deps, { baseUrl, headers }, list, signal);
  } finally {
    body.destroy();
  }
}

/** Adds the models of the further pages of a list to `models`. */
async function addPages(
  deps: Pick<ProviderTestDeps, 'egress'>,
  { kind, baseUrl, headers }: { kind: ProviderKind; baseUrl: string; headers: Record<string, string> },
  { models, first }: { models: ListedEntry[]; first: unknown },
  signal: AbortSignal,
): Promise<void> {
  const known = new Set(models.map(({ id }) => id));
  let path = nextPagePath(kind, first);
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(providerTestBounds.totalMs)]);
  for (let page = 1; page < providerTestBounds.pages && path !== undefined; page++) {
    const { status, answer } = await requestList(deps, providerUrl(kind, baseUrl, path), headers, bounded);
    const listed = status === 200 ? await listedModels(kind, answer, providerTestBounds.models) : undefined;
    const news = (listed ?? []).filter(({ id }) => !known.has(id)).slice(0, providerTestBounds.models - models.length);
    // A server that repeats a page has no more.
    if (news.length === 0) return;
    models.push(...news);
    for (const { id } of news) known.add(id);
    path = nextPagePath(kind, answer);
  }
}

/** The base URL with `/v1` at its end, if an OpenAI-style list is there and the given one has no version. */
async function findVersioned(
  deps: Pick<ProviderTestDeps, 'egress'>,
  { kind, baseUrl, credentials }: Target,
  signal: AbortSignal,
): Promise<string | undefined> {
  const url = new URL(baseUrl);
  if (!kind.startsWith('openai') || /\/v\d/i.test(url.pathname)) return undefined;
  url.pathname = `${url.pathname.replace(/\/{1,9}$/, '')}/v1`;
  const list = providerUrl(kind, url.href, listPaths[kind]);
  try {
    const { status, answer } = await requestList(deps, list, providerHeaders(kind, credentials), signal);
    const models = status === 200 ? await listedModels(kind, answer, providerTestBounds.models) : undefined;
    return models === undefined ? undefined : url.href;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

async function requestList(
  deps: Pick<ProviderTestDeps, 'egress'>,
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<{ status: number; answer: unknown }> {
  const { status, body } = await deps.egress.request(url, {
    headers: { accept: 'application/json', ...headers },
    signal,
    totalTimeoutMs: providerTestBounds.totalMs,
    maxResponseBytes: providerTestBounds.bodyBytes,
    decodes: true,
  });
  try {
    return { status, answer: await parseJson(await body.text(providerTestBounds.bodyBytes)) };
  } finally {
    body.destroy();
  }
}

function missingVersion(status: number, baseUrl: string): ApiError {
  const details = { status, reason: 'other', values: { problem: 'version', baseUrl } };
  return new ApiError('provider_error', wordError(english, 'provider_error', details) ?? notAList, { details });
}

async function findTarget(deps: ProviderTestDeps, owner: string, input: ProviderTestInput): Promise<Target> {
  if ('id' in input) {
    const provider = await getOwnedProvider(deps, owner, input.id);
    return { kind: provider.kind, baseUrl: provider.base_url, credentials: resolveCredentials(deps, provider) };
  }
  const headers = input.headers ?? {};
  assertCustomHeaders(headers);
  return {
    kind: input.kind ?? 'openai',
    baseUrl: input.baseUrl,
    credentials: { apiKey: input.apiKey ?? undefined, headers },
  };
}

const noResponses =
  'An OpenAI-style server without the Responses protocol answered at this address. Choose OpenAI-compatible, or check the base URL.';
const notAList = 'The provider answered, but not with a list of models. Check the base URL; it usually ends in /v1.';

function statusAdvice(status: number): string {
  if (status === 401 || status === 403) return 'The provider refused the credentials. Check the API key.';
  if (status === 404 || status === 405) {
    return 'The provider has no list of models at this address. Check the base URL; it usually ends in /v1.';
  }
  if (status === 429) return 'The provider is limiting requests. Wait a moment and try again.';
  if (status >= 500) return 'The provider had an internal error. Try again later.';
  return 'The provider answered with an error. Check the base URL and the credentials.';
}

/** `answered`: the protocol of the server that is there. */
function providerError(status: number, message: string, answered?: Family): ApiError {
  return new ApiError('provider_error', message, {
    details: { status, ...(answered === undefined ? {} : { answered }) },
  });
}

function raise(error: unknown): never {
  throw error;
}

async function parseJson(text: string): Promise<unknown> {
  try {
    return await parseModelList(text, providerTestBounds.models);
  } catch {
    return undefined;
  }
}

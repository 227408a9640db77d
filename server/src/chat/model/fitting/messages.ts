import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { ModelRequest } from '../protocol.ts';
import type { ProviderDialect } from '../provider-dialect.ts';
import type { ChatMessage } from '../provider-messages.ts';
import { parseHistory } from '../request-parts.ts';
import { fitIds, type UsedIds } from './ids.ts';
import { picturesAfterResults } from './pictures.ts';
import { hasWholeState, wireMessage } from './reasoning.ts';
import { beginWithUser, mergeNeighbors, separateResults, stepsAsText } from './roles.ts';
import type { RequestShape } from './shape.ts';

/** The messages of a request in the form that a server accepts. The history is fitted once per turn. */
export type MessageFitter = (request: ModelRequest, dialect: ProviderDialect) => ModelRequest;

type FittedHistory = { history: string; key: string; text: string; used: UsedIds };

const roleStart = '{"role":"';

export function createMessageFitter(kind: ProviderKind): MessageFitter {
  let known: FittedHistory | undefined;
  return (request, dialect) => {
    const { history = '', messages } = request;
    if (hasTurns(kind) && continuesRole(history, messages)) {
      const own = messages.findIndex(({ role }) => role !== 'system');
      const all = [...messages.slice(0, own), ...parseHistory(history), ...messages.slice(own)];
      return { ...request, history: '', messages: fit(kind, request, dialect, all, new Set()) };
    }
    const key = keyOf(request, dialect);
    if (known?.key !== key || known.history !== history) {
      known = { history, key, ...fitHistory(kind, request, dialect) };
    }
    // A model can call a tool that is not listed: such calls of this turn stay calls.
    const takesCalls = request.tools !== undefined && dialect.tools && request.abilities?.tools !== false;
    const fitted = fit(kind, request, dialect, messages, new Set(known.used), takesCalls);
    return { ...request, history: known.text, messages: fitted };
  };
}

function fitHistory(
  kind: ProviderKind,
  request: ModelRequest,
  dialect: ProviderDialect,
): Pick<FittedHistory, 'text' | 'used'> {
  const { history = '' } = request;
  const used: UsedIds = new Set();
  const isOrdered =
    (!needsUser(kind, dialect) || !beginsWithAssistant(history)) && (kind !== 'openai' || !repeatsRole(history));
  const isPlain = isOrdered && !/"tool_calls":|"stepState":/.test(history);
  if (isPlain) return { text: history, used };
  const fitted = fit(kind, request, dialect, parseHistory(history), used);
  return { text: JSON.stringify(fitted).slice(1, -1), used };
}

function fit(
  kind: ProviderKind,
  request: ModelRequest,
  dialect: ProviderDialect,
  messages: readonly ChatMessage[],
  used: UsedIds,
  takesCalls = (request.tools?.length ?? 0) > 0,
): ChatMessage[] {
  const { shape } = dialect;
  const { source } = request;
  const placed = kind !== 'gemini' && kind !== 'openai' && takesCalls ? messages : picturesAfterResults(messages);
  const asText = stepsAsText(placed, (message) =>
    takesCalls ? isSentAsText(message, shape.stepsAsText, source) : true,
  );
  const unique = fitIds(asText, idsOf(kind, dialect), used);
  const begun = needsUser(kind, dialect) ? beginWithUser(unique) : unique;
  if (kind !== 'openai') return begun.map(withoutForeignState);
  const merged = mergeNeighbors(begun);
  const separate = shape.userAfterTool ? merged : separateResults(merged);
  const context = { shape, source, signs: dialect.isSignatureNeeded };
  return asMessages(separate.map((message) => wireMessage(message, context)));
}

function isSentAsText(
  message: Extract<ChatMessage, { role: 'assistant' }>,
  which: RequestShape['stepsAsText'],
  source: string | undefined,
): boolean {
  return which === 'all' || (which === 'foreign' && !hasWholeState(message, source));
}

/** Alphabets and lengths of the protocols themselves. */
function idsOf(kind: ProviderKind, { shape }: ProviderDialect): { ids: typeof shape.ids; maxIdLength: number } {
  if (kind === 'anthropic') return { ids: 'word', maxIdLength: 64 };
  return { ids: shape.ids, maxIdLength: kind === 'openai-responses' ? 64 : shape.maxIdLength };
}

/** State in the history is that of chat completions. */
function withoutForeignState(message: ChatMessage): ChatMessage {
  if (message.role !== 'assistant' || message.stateOf === undefined) return message;
  const { stepState: _, stateOf: __, ...plain } = message;
  return plain;
}

function keyOf({ tools, source }: ModelRequest, { shape, isSignatureNeeded }: ProviderDialect): string {
  const { refusedMembers, refusedTools: _, ...rest } = shape;
  const hasTools = (tools?.length ?? 0) > 0;
  return JSON.stringify({ ...rest, refusedMembers: [...refusedMembers], hasTools, source, isSignatureNeeded });
}

/** The items of Responses are in any order; the others have messages of two sides. */
function hasTurns(kind: ProviderKind): boolean {
  return kind !== 'openai-responses';
}

function needsUser(kind: ProviderKind, { shape }: ProviderDialect): boolean {
  return kind === 'openai' ? shape.userFirst : hasTurns(kind);
}

function beginsWithAssistant(history: string): boolean {
  const first = history.indexOf(roleStart, history.startsWith(`${roleStart}system"`) ? 1 : 0);
  return first !== -1 && history.startsWith(`${roleStart}assistant"`, first);
}

/** True if two messages of one role follow each other. The text is our own: a quote within a content is escaped. */
function repeatsRole(history: string): boolean {
  let last = '';
  for (let at = history.indexOf(roleStart); at !== -1; at = history.indexOf(roleStart, at + 1)) {
    const role = history.slice(at + roleStart.length, at + roleStart.length + 4);
    if (role === last && role !== 'tool') return true;
    last = role;
  }
  return false;
}

/** True if the first message of the turn has the role of the last one before it. */
function continuesRole(history: string, messages: readonly ChatMessage[]): boolean {
  const first = messages.find(({ role }) => role !== 'system');
  const last = history.lastIndexOf(roleStart);
  return last !== -1 && first !== undefined && history.startsWith(`${roleStart}${first.role}"`, last);
}

/** Messages in the form of one server, which are written as they are. */
function asMessages(wire: readonly object[]): ChatMessage[] {
  return wire as ChatMessage[];
}

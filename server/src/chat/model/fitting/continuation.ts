import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { ModelRequest } from '../protocol.ts';
import { isRefused, kept, type ProviderDialect, refuse } from '../provider-dialect.ts';
import type { ChatMessage } from '../provider-messages.ts';

/**
 * Requests that continue an answer. Servers that continue the assistant's message itself get that message last; all
 * others get a message of the person that asks for the remaining text.
 */

/** Fits the message that asks for the remaining text: it is left out, or sent as a message of the person. */
export function fitContinuation(kind: ProviderKind, request: ModelRequest, dialect: ProviderDialect): ModelRequest {
  const { messages } = request;
  const at = messages.findIndex(isContinuation);
  if (at === -1) return request;
  if (!goesOn(kind, request, dialect)) return { ...request, messages: messages.map(plain) };
  const rest = messages.toSpliced(at, 1);
  const last = rest.at(-1);
  if (at < rest.length || last?.role !== 'assistant') return { ...request, messages: rest };
  return { ...request, messages: rest.with(-1, begun(last, dialect)) };
}

/** Learns that a model does not continue the assistant's message. `sent`: the messages as sent. */
export function learnContinuation(dialect: ProviderDialect, sent: readonly ChatMessage[], refusal: string): boolean {
  if (sent.at(-1)?.role !== 'assistant' || isRefused(dialect, 'prefill')) return false;
  const isMeant =
    /prefill|pre-fill|\bprefix\b/i.test(refusal) ||
    (/assistant|\bmodel\b/i.test(refusal) && /(?:last|final|end)/i.test(refusal)) ||
    (/\buser\b/i.test(refusal) && /(?:last|final|end)/i.test(refusal));
  if (isMeant) refuse(dialect, 'prefill');
  return isMeant;
}

function isContinuation(message: ChatMessage): boolean {
  return message.role === 'user' && message.continues === true;
}

/** A model that thinks begins with thoughts, not in the middle of its answer. */
function goesOn(kind: ProviderKind, { parameters = {} }: ModelRequest, dialect: ProviderDialect): boolean {
  if (isRefused(dialect, 'prefill')) return false;
  if (kind === 'openai') return dialect.shape.prefix;
  const effort = kept(dialect, parameters, 'reasoningEffort');
  return kind === 'anthropic' && (effort === undefined || effort === 'none');
}

/** Space at the end is refused, and comes back with the answer. */
function begun(message: Extract<ChatMessage, { role: 'assistant' }>, { shape }: ProviderDialect): ChatMessage {
  const content = message.content === null ? null : message.content.trimEnd();
  return { ...message, content, ...(shape.prefix ? { prefix: true } : {}) };
}

function plain(message: ChatMessage): ChatMessage {
  if (message.role !== 'user' || message.continues === undefined) return message;
  return { role: 'user', content: message.content };
}

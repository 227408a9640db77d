import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { ProviderDialect } from '../provider-dialect.ts';
import type { ChatMessage } from '../provider-messages.ts';
import type { RequestShape } from './shape.ts';

/** Learns from a refusal the form that a server requires of messages. The text is examined, never quoted. */

const maxText = 16_000;
const isAboutId =
  /tool[_ ]?call[_ ]?id|tool_calls?(?:\[\d{1,4}\]|\.\d{1,4})?\.id|\bcall_id|tool_use(?:_id|\.id| ids?)|tool id|function_call\.id/i;
const isAboutMissingResult =
  /followed|did not have|without|not found|no tool|preced|unexpected|no matching|response messages/i;
const isDemanded =
  /missing|must be (?:passed|provided|included|preserved|present|set)|passed back|be preserved|is required|are required/i;
const isUnknownMember =
  /unsupported|not supported|extra|not permitted|unknown|unrecogni[sz]ed|unexpected|forbidden|not allowed|not expected|not be present|must not|cannot be|invalid|does not exist|no such/i;
const stateMembers = [
  'reasoning_content',
  'reasoning_details',
  'thinking_blocks',
  'extra_content',
  'provider_specific_fields',
];

/** True if the shape has changed, so that the request is worth another attempt. `sent`: its messages as sent. */
export function learnShape(
  kind: ProviderKind,
  dialect: ProviderDialect,
  sent: readonly ChatMessage[],
  refusal: string,
): boolean {
  const text = refusal.slice(0, maxText);
  const { shape } = dialect;
  if (!sent.some((message) => message.role === 'assistant')) return false;
  return (
    (kind === 'openai' && learnState(dialect, text)) ||
    learnIds(shape, text) ||
    (kind === 'openai' && (learnOrder(shape, sent, text) || learnEmptyContent(shape, sent, text)))
  );
}

function learnState(dialect: ProviderDialect, text: string): boolean {
  const { shape } = dialect;
  if (/thought_?signature/i.test(text) && isDemanded.test(text)) return learnSignature(dialect, text);
  const named = stateMembers.find((name) => text.includes(name)) ?? shortMember(text);
  if (named === undefined && !/reasoning details/i.test(text)) return false;
  if (isDemanded.test(text)) return demandReasoning(shape);
  if (named === undefined || shape.refusedMembers.has(named) || !isUnknownMember.test(text)) return false;
  shape.refusedMembers.add(named);
  return true;
}

/** Members whose names are words as well: they count only where a message is named. */
function shortMember(text: string): string | undefined {
  if (!/messages?\b|assistant/i.test(text)) return undefined;
  return ['reasoning', 'thinking'].find((name) => new RegExp(`["'\`.]${name}["'\`]`).test(text));
}

/** Signatures belong to calls or, at OpenRouter, to the reasoning details. */
function learnSignature(dialect: ProviderDialect, text: string): boolean {
  const isNews = !dialect.isSignatureNeeded;
  dialect.isSignatureNeeded = true;
  if (isNews && !/reasoning.details/i.test(text)) return true;
  return demandReasoning(dialect.shape);
}

/** First everything is sent back; steps of other models, which lack it, are sent as text if that is not enough. */
function demandReasoning(shape: RequestShape): boolean {
  if (!shape.reasoningAlways) {
    shape.reasoningAlways = true;
    return true;
  }
  if (shape.stepsAsText === 'all') return false;
  shape.stepsAsText = shape.stepsAsText === 'none' ? 'foreign' : 'all';
  return true;
}

function learnIds(shape: RequestShape, text: string): boolean {
  if (!isAboutId.test(text) || isAboutMissingResult.test(text)) return false;
  if (/length of 9|\{9\}|9 (?:alphanumeric )?characters/i.test(text)) return setIds(shape, 'nine', shape.maxIdLength);
  const told =
    /(?:maximum length|max_length\W{1,4}|at most|longer than|max(?:imum)? of|up to|maximum) ?(\d{1,3})\b/i.exec(text);
  const max = Number(told?.[1]);
  if (max >= 9 && max < shape.maxIdLength) return setIds(shape, shape.ids, max);
  return setIds(shape, 'word', Math.min(shape.maxIdLength, 40)) || setIds(shape, 'nine', 40);
}

const idForms = ['any', 'word', 'nine'];

function setIds(shape: RequestShape, ids: RequestShape['ids'], maxIdLength: number): boolean {
  const isNews =
    idForms.indexOf(ids) > idForms.indexOf(shape.ids) || (ids === shape.ids && maxIdLength < shape.maxIdLength);
  if (!isNews) return false;
  shape.ids = ids;
  shape.maxIdLength = maxIdLength;
  return true;
}

function learnOrder(shape: RequestShape, sent: readonly ChatMessage[], text: string): boolean {
  const isMeant =
    /alternat/i.test(text) || [/\buser\b/i, /\btool/i, /after|follow|order/i].every((word) => word.test(text));
  const follows = sent.some(({ role }, at) => role === 'user' && sent[at - 1]?.role === 'tool');
  if (isMeant && follows && shape.userAfterTool) {
    shape.userAfterTool = false;
    return true;
  }
  const isFirst = sent.find(({ role }) => role !== 'system')?.role === 'assistant';
  if (!isFirst || shape.userFirst || !/alternat|first|start|begin/i.test(text)) return false;
  shape.userFirst = true;
  return true;
}

function learnEmptyContent(shape: RequestShape, sent: readonly ChatMessage[], text: string): boolean {
  const isMeant =
    /content/i.test(text) &&
    /null|none|valid string|be a string|expected[^.]{0,20}string|required|empty|missing/i.test(text);
  if (!isMeant || !isAboutCall(sent, text)) return false;
  const order: RequestShape['emptyContent'][] = /empty/i.test(text) ? ['absent', 'text'] : ['text', 'absent'];
  shape.refusedMembers.add(`content=${shape.emptyContent}`);
  const next = order.find((form) => !shape.refusedMembers.has(`content=${form}`));
  if (next === undefined) return false;
  shape.emptyContent = next;
  return true;
}

/** True if the text names a message that only calls tools or, without a place in it, if there is one. */
function isAboutCall(sent: readonly ChatMessage[], text: string): boolean {
  const isCall = (message: ChatMessage | undefined): boolean =>
    message?.role === 'assistant' && message.tool_calls !== undefined && !message.content;
  const place = /messages?\W{1,3}(\d{1,5})\b/i.exec(text)?.[1];
  if (place === undefined) return sent.some(isCall);
  return isCall(sent[Number(place)]);
}

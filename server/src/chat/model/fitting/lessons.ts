import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { learnFrom, learnStrictness, namesParameter } from '../failures/refusals.ts';
import type { ModelRequest } from '../protocol.ts';
import type { ProviderDialect } from '../provider-dialect.ts';
import type { ChatMessage } from '../provider-messages.ts';
import { learnNoPictures, learnNoTools, withoutPictures } from './abilities.ts';
import { learnContinuation } from './continuation.ts';
import { learnLimits, readLimits } from './limits.ts';
import { learnFitting } from './request.ts';

/** Lessons from refusals: the next attempt of a step differs by what the refusal named. */

const refusedPicture = '[A picture was left out: the provider refused it]';

const failedCall = /tool_use_failed|failed to call a function|malformed[_ ]function[_ ]call/i;

/** A refused request: as it was meant, as it was sent, and the words of the server. */
export type Refusal = { request: ModelRequest; sent: ModelRequest; text: string };

/** Returns the request for the next attempt; undefined if the refusal teaches nothing. One learner per step. */
export function createLearner(
  kind: ProviderKind,
  dialect: ProviderDialect,
): (refusal: Refusal) => ModelRequest | undefined {
  let toolRefusals = 0;
  let unknownMembers = 0;
  let hasFailedCall = false;
  return ({ request, sent, text }) => {
    // The model wrote a call that its server could not read: it often succeeds the second time.
    if (!hasFailedCall && failedCall.test(text)) {
      hasFailedCall = true;
      return request;
    }
    if (learnContinuation(dialect, sent.messages, text)) return request;
    const fitted = learnFitting(kind, dialect, sent, text, toolRefusals);
    if (fitted === 'tools') toolRefusals++;
    if (fitted !== undefined) return request;
    // "Function tools with reasoning_effort are not supported": the tools are needed more than the parameter.
    const isParameter = namesParameter(kind, dialect, request, text);
    if (!isParameter && learnNoTools(dialect, sent, text)) return request;
    const pictures = learnNoPictures(dialect, sent, text);
    if (pictures !== undefined) return pictures === 'never' ? request : withoutPictures(request, refusedPicture);
    if (learnFrom(kind, dialect, request, text)) {
      if (learnStrictness(kind, dialect, text, unknownMembers)) unknownMembers++;
      return request;
    }
    const told = readLimits(text, sent.maxOutputTokens);
    if (told !== undefined) {
      learnLimits(dialect, told);
      const { maxOutputTokens } = told;
      return maxOutputTokens === undefined ? undefined : { ...request, maxOutputTokens };
    }
    return withoutState(request, text);
  };
}

/** Thinking that the server does not accept back: another key or model made it. */
function withoutState(request: ModelRequest, refusal: string): ModelRequest | undefined {
  const has = request.messages.some((message) => message.role === 'assistant' && message.stepState !== undefined);
  if (!has || !/signature|encrypted|thinking|reasoning/i.test(refusal)) return undefined;
  const messages = request.messages.map((message): ChatMessage => {
    if (message.role !== 'assistant') return message;
    const { stepState: _state, ...plain } = message;
    return plain;
  });
  return { ...request, messages };
}

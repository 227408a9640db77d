import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { ModelRequest } from '../protocol.ts';
import type { ProviderDialect } from '../provider-dialect.ts';
import { parseHistory } from '../request-parts.ts';
import { fitAbilities, type LackingAbility, lackingFor } from './abilities.ts';
import { fitContinuation } from './continuation.ts';
import { createMessageFitter } from './messages.ts';
import { learnShape } from './shape-refusals.ts';
import { learnTools } from './tools/tool-refusals.ts';
import { fitTools, type OmittedTool } from './tools/tools.ts';

/** A request as the server gets it, with the tools that it does not get. */
export type FittedRequest = {
  request: ModelRequest;
  omitted: OmittedTool[];
  /** Abilities that the server refused and that this request would have used. */
  lacking: LackingAbility[];
};

/** Fits the requests of one turn: tools first, as the messages depend on whether there are any. */
export function createRequestFitter(
  kind: ProviderKind,
): (request: ModelRequest, dialect: ProviderDialect) => FittedRequest {
  const fitMessages = createMessageFitter(kind);
  return (asked, dialect) => {
    const able = fitAbilities(fitContinuation(kind, asked, dialect), dialect);
    const maxOutputTokens = Math.min(able.maxOutputTokens, dialect.maxOutputTokens ?? able.maxOutputTokens);
    const request = { ...able, maxOutputTokens };
    const { tools, omitted } = fitTools(kind, dialect, request);
    return { request: fitMessages({ ...request, tools }, dialect), omitted, lacking: lackingFor(asked, dialect) };
  };
}

/**
 * Learns from a refusal of a fitted request; true if the next attempt differs. `toolRefusals`: how often tools were the
 * reason before in this step.
 */
export function learnFitting(
  kind: ProviderKind,
  dialect: ProviderDialect,
  sent: ModelRequest,
  refusal: string,
  toolRefusals: number,
): 'messages' | 'tools' | undefined {
  const messages = [...parseHistory(sent.history), ...sent.messages];
  if (learnShape(kind, dialect, messages, refusal)) return 'messages';
  const tools = { sent: sent.tools ?? [], times: toolRefusals };
  return learnTools(dialect.shape, tools, refusal) ? 'tools' : undefined;
}

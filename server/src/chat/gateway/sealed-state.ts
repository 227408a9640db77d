import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { ApiError } from '@homeport/contracts/errors';
import type { ResolvedModel } from '../../catalogue/model-choice.ts';
import { type KeyRing, openBound, sealBound } from '../../secrets/key-ring.ts';
import type { StepState } from '../model/protocol.ts';
import type { ChatMessage } from '../model/provider-messages.ts';
import { argumentsObject } from '../model/request-parts.ts';
import { isRecord } from '../model/stream/storable-text.ts';
import { sourceOf } from '../run/model-call.ts';
import type { GatewayMessage, StepItem } from './gateway-request.ts';

/**
 * Thinking state of models, sealed for a client to keep: it opens only for the same account, and for the model that
 * made it or another of its family at the same provider.
 */

export type Sealer = { ring: KeyRing; ownerId: string; resolved: ResolvedModel };

/** One item of a step's state, or the state of the whole step. */
type SealedContent = { item: unknown } | { step: StepState };

const prefix = 'hps1_';
const blobMax = 8 * 1024 * 1024;
const place = { table: 'gateway', row: 'state', column: 'reasoning' };

export function sealState({ ring, ownerId, resolved }: Sealer, content: SealedContent): string {
  const origin = sourceOf(resolved);
  return `${prefix}${sealBound(ring, place, { owner: ownerId, origin }, JSON.stringify(content))}`;
}

/** True for text that `sealState` made. */
export function isSealed(text: string): boolean {
  return text.startsWith(prefix);
}

/** Throws `invalid_request` for state of another account or model, and for state that was changed. */
function openState({ ring, ownerId, resolved }: Sealer, blob: string, param: string): SealedContent {
  if (!isSealed(blob) || blob.length > blobMax) throw foreign(param);
  try {
    const { text, origin } = openBound(ring, place, ownerId, blob.slice(prefix.length));
    if (origin === sourceOf(resolved)) return parseContent(text);
  } catch {
    throw foreign(param);
  }
  throw foreign(param);
}

function foreign(path: string): ApiError {
  const message = 'This reasoning was made for another account or model, or it was changed. Leave it out.';
  return new ApiError('invalid_request', message, {
    details: [{ path, message, code: 'invalid_encrypted_content' }],
  });
}

/** The text is our own. */
function parseContent(text: string): SealedContent {
  return JSON.parse(text) as SealedContent;
}

/** The messages as models take them, with the state that belongs to this one. */
export function openStates(sealer: Sealer, messages: readonly GatewayMessage[]): ChatMessage[] {
  return messages.flatMap((message): ChatMessage[] => {
    if (message.role !== 'assistant') return [message];
    const { items = [], ...plain } = message;
    const stepState = stepStateOf(sealer, items);
    if (stepState !== undefined) return [{ ...plain, stepState }];
    // Reasoning alone is no message.
    return plain.content === null && plain.tool_calls === undefined ? [] : [plain];
  });
}

function stepStateOf(sealer: Sealer, items: readonly StepItem[]): StepState | undefined {
  const { kind } = sealer.resolved.provider;
  const state: unknown[] = [];
  let hasState = false;
  for (const item of items) {
    if (item.type === 'sealed') {
      const content = openState(sealer, item.blob, item.param);
      if ('step' in content) return content.step;
      state.push(content.item);
      hasState = true;
    } else if (item.type === 'block') {
      if (kind !== 'anthropic') continue;
      state.push(item.block);
      hasState = true;
    } else state.push(...plainItem(kind, item));
  }
  return hasState ? state : undefined;
}

/** Text and calls between the state's items, as the protocol writes them. */
function plainItem(kind: ProviderKind, item: Extract<StepItem, { type: 'text' | 'call' }>): unknown[] {
  if (item.type === 'text') {
    if (item.text.trim() === '') return [];
    return kind === 'anthropic' ? [{ type: 'text', text: item.text }] : [{ role: 'assistant', content: item.text }];
  }
  const { id, name, arguments: json } = item;
  if (kind === 'anthropic') return [{ type: 'tool_use', id, name, input: argumentsObject(json) }];
  return [{ type: 'function_call', call_id: id, name, arguments: json }];
}

/** True for an item that Anthropic signed, which its clients get as it is. */
export function isAnthropicBlock(kind: ProviderKind, item: unknown): item is Record<string, unknown> {
  return kind === 'anthropic' && isRecord(item);
}

import type { Prices } from '@homeport/contracts/catalogue/model-facts';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { sql } from 'kysely';
import type { Queryable } from '../../db/pool.ts';
import { estimateTokens } from '../../platform/text-tokens.ts';
import type { LedgerRow } from '../../usage/ledger.ts';
import { priced } from '../../usage/price.ts';
import type { ResponseRow } from './response-start.ts';

type Known = {
  counted: boolean;
  provider_name: string | null;
  provider_model_id: string | null;
  tokens: number | null;
  prices: Prices | null;
};

/** The last step in the log of a response: its number, and the parts before and after it. */
export type LoggedStep = { step: number; before: readonly MessagePart[]; parts: readonly MessagePart[] };

/**
 * Estimates the model call that was running when its replica was lost, from the parts in its log; nothing if it was
 * counted. Each step before it was counted before its tools ran.
 */
export async function interruptedCall(
  trx: Queryable,
  { id, owner_id: ownerId, generation }: Pick<ResponseRow, 'id' | 'owner_id' | 'generation'>,
  { step, before, parts }: LoggedStep,
): Promise<LedgerRow[]> {
  if (step === 0) return [];
  // The model's name in the prompt context, and prices of a model with that name, the owner's first.
  const { rows } = await sql<Known>`
    select exists (select from usage_calls where response_id = ${id} and kind = 'answer' and step = ${step}) as counted,
      t.provider_name, t.provider_model_id, t.tokens, (select m.prices from models m join providers p on p.id = m.provider_id
        where m.provider_model_id = t.provider_model_id and p.name = t.provider_name
        order by m.owner_id = ${ownerId} desc limit 1) as prices
    from (values (1)) one left join (
      select context -> 'model' ->> 'providerName' as provider_name, context -> 'model' ->> 'providerModelId' as provider_model_id,
        (context ->> 'tokens')::int as tokens
      from told_contexts where message_id = ${id}) t on true`.execute(trx);
  const known = rows[0];
  if (known === undefined || known.counted) return [];
  const { provider_name: providerName, provider_model_id: providerModelId, tokens, prices } = known;
  const tokensBefore = tokensOf(before);
  const usage = {
    inputTokens: (tokens ?? 0) + tokensBefore,
    outputTokens: Math.max(0, tokensOf(parts) - tokensBefore),
  };
  const model = { providerName: providerName ?? '', providerModelId: providerModelId ?? '', prices };
  const call = { kind: 'answer', model, usage: priced(usage, prices), estimated: true } as const;
  return [{ ...call, ownerId, responseId: id, generation, step }];
}

function tokensOf(parts: readonly MessagePart[]): number {
  return parts.reduce((sum, part) => sum + estimateTokens('text' in part ? part.text : JSON.stringify(part)), 0);
}

import { createHash } from 'node:crypto';
import type { Deps } from '../../deps.ts';
import { EventStream } from '../../http/event-stream.ts';
import { type RequestFacts, streamed } from '../../http/handler.ts';
import type { GatewayAnswer } from './answer-handlers.ts';
import { invalidMember } from './gateway-request.ts';
import { claimAnswer, dropRun, type KeptAnswer, type KeyedRequest, keepAnswer, renewRun } from './kept-answers.ts';

/** Exactly one answer for each `idempotency-key` of an account, kept for 24 hours. */

const pollMs = 250;
const renewMs = 5_000;
const keyPattern = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;
const eventStream = 'text/event-stream';

/** The key of a request; undefined without one. Throws `invalid_request`. */
export function keyOf(ownerId: string, request: RequestFacts, body: unknown): KeyedRequest | undefined {
  const key = request.headers.get('idempotency-key');
  if (key === null) return undefined;
  if (!keyPattern.test(key)) throw invalidMember('idempotency-key', 'A key has 1 to 255 printable characters');
  const [path] = (request.outgoing.req.url ?? '').split('?');
  const hash = createHash('sha256')
    .update(`${path}\n${JSON.stringify(body)}`)
    .digest();
  return { ownerId, key, hash };
}

/**
 * Runs the work of a key once, on whichever replica got it first; every other request with the key waits for that
 * answer. The work goes on if its client leaves. `record` receives the events of a stream.
 */
export async function once(
  deps: Deps,
  keyed: KeyedRequest,
  request: RequestFacts,
  work: (record: (events: string) => void) => Promise<GatewayAnswer>,
): Promise<GatewayAnswer> {
  for (;;) {
    const claim = await claimAnswer(deps.db.kysely, keyed);
    if (claim === 'running') {
      await deps.clock.sleep(pollMs, request.signal);
      continue;
    }
    if ('answer' in claim) return replay(request, claim.answer);
    return run(deps, keyed, claim.runId, work);
  }
}

async function run(
  deps: Deps,
  keyed: KeyedRequest,
  runId: string,
  work: (record: (events: string) => void) => Promise<GatewayAnswer>,
): Promise<GatewayAnswer> {
  const db = deps.db.kysely;
  const events: string[] = [];
  const timer = deps.clock.every(renewMs, () =>
    renewRun(db, runId, keyed).catch((error: unknown) => {
      deps.log.warn({ cause: error }, 'failed to renew the lease of an answer');
    }),
  );
  try {
    const answer = await work((piece) => events.push(piece));
    const kept: KeptAnswer =
      answer === streamed
        ? { mediaType: eventStream, text: events.join('') }
        : { mediaType: 'application/json', text: JSON.stringify(answer) };
    await keepAnswer(db, runId, keyed, kept);
    return answer;
  } catch (error) {
    await dropRun(db, runId, keyed);
    throw error;
  } finally {
    timer.stop();
  }
}

function replay(request: RequestFacts, { mediaType, text }: KeptAnswer): GatewayAnswer {
  if (mediaType !== eventStream) return parseAnswer(text);
  const stream = new EventStream(request.outgoing, { 'x-request-id': request.id }, () => undefined);
  stream.end(text);
  return streamed;
}

/** The text is our own. */
function parseAnswer(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}

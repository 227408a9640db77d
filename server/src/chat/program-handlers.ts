import { randomUUIDv7 } from 'node:crypto';
import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import { catalogueOwner } from '../catalogue/catalogue-owner.ts';
import { listUsableModels } from '../catalogue/model-choice.ts';
import type { Deps } from '../deps.ts';
import { EventStream } from '../http/event-stream.ts';
import { type Handler, type RequestFacts, streamed } from '../http/handler.ts';
import { assertMayAsk, takeCall } from './gateway/allowance.ts';
import { type AnswerHead, chunks, completion, gathering } from './gateway/completion.ts';
import { programRequest } from './gateway/completion-request.ts';
import { askForProgram, modelOf } from './gateway/model-call.ts';

type Endpoints = typeof endpoints;
type Call = Parameters<typeof askForProgram>[1];

/** GET /api/internal/v1/models */
export const getInternalModels: Handler<Deps, Endpoints['getInternalModels']> = async (deps, { actor }) => {
  await assertMayAsk(deps, actor.id, 'list');
  const models = await listUsableModels(deps, catalogueOwner(deps.config, actor.id));
  const data = models.map(({ name, providerName, createdAt }) => ({
    id: name,
    object: 'model' as const,
    created: Math.floor(createdAt.getTime() / 1000),
    owned_by: providerName,
  }));
  return { object: 'list', data };
};

/** POST /api/internal/v1/chat/completions */
export const postInternalCompletion: Handler<Deps, Endpoints['postInternalCompletion']> = async (
  deps,
  { actor, body, request },
) => {
  const userId = actor.id;
  await assertMayAsk(deps, userId, 'call');
  const release = takeCall(userId);
  const revoked = new AbortController();
  const end = () => revoked.abort(new ApiError('unauthorized', 'The token of the workspace is no longer valid'));
  const unwatch = deps.programs.watch(actor.tokenHash ?? '', end, { endsUnchecked: false });
  try {
    const resolved = await modelOf(deps, userId, body.model);
    const call = { userId, resolved, request: programRequest(body) };
    const head: AnswerHead = {
      id: `chatcmpl-${randomUUIDv7()}`,
      created: Math.floor(deps.clock.now() / 1000),
      model: resolved.model.providerModelId,
    };
    const signal = AbortSignal.any([request.signal, revoked.signal]);
    if (body.stream === true) {
      const hasUsage = body.stream_options?.include_usage === true;
      await streamAnswer(deps, head, call, { request, signal, hasUsage });
      return streamed;
    }
    const { sink, gathered } = gathering();
    const ended = await askForProgram(deps, call, sink, signal);
    return completion(head, gathered, ended);
  } finally {
    unwatch();
    release();
  }
};

/** The stream begins with the answer's first piece, so that what fails before has its own status. */
async function streamAnswer(
  deps: Deps,
  head: AnswerHead,
  call: Call,
  { request, signal, hasUsage }: { request: RequestFacts; signal: AbortSignal; hasUsage: boolean },
): Promise<void> {
  let stream: EventStream | undefined;
  const { sink, end } = chunks(head, (event) => {
    stream ??= new EventStream(request.outgoing, { 'x-request-id': request.id }, () => undefined);
    stream.write(event);
  });
  try {
    end(await askForProgram(deps, call, sink, signal), hasUsage);
    stream?.end('');
  } catch (error) {
    if (stream === undefined) throw error;
    const { code, message } =
      error instanceof ApiError ? error : new ApiError('internal_error', 'The answer broke off');
    stream.end(`data: ${JSON.stringify({ error: { message, code } })}\n\n`);
    throw error;
  }
}

import { setImmediate } from 'node:timers/promises';
import type { ChatBody } from '@homeport/contracts/chat/chat';
import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import { moveChatArtifacts } from '../artifacts/moves.ts';
import { catalogueOwner } from '../catalogue/catalogue-owner.ts';
import { assertVisibleModel } from '../catalogue/models.ts';
import { updateChat } from '../conversations/chat-changes.ts';
import { assertOwnedChat, deleteOwnedChat } from '../conversations/chats.ts';
import type { Deps } from '../deps.ts';
import { EventStream } from '../http/event-stream.ts';
import { type Actor, type Handler, Reply, type RequestFacts, sourceOf, streamed } from '../http/handler.ts';
import { assertOwnedMcpServers } from '../mcp/servers.ts';
import { largeReads } from '../platform/concurrency/account-semaphore.ts';
import { answerApproval, answerQuestion } from './ledger/approvals.ts';
import { claimCompaction, claimInput, claimRegeneration, findOutcome, hasBegun } from './ledger/claims.ts';
import { findFollowable } from './ledger/handover.ts';
import { admitInput, cancelInput, decisionOf, listQueuedInputs, viewAdmitted, viewInput } from './ledger/inputs.ts';
import type { ClaimOutcome } from './ledger/response-start.ts';
import { claimResumption } from './ledger/resumptions.ts';
import { requestStop } from './ledger/running-state.ts';
import { steerInput } from './ledger/steering.ts';
import { type Follower, followResponse, readReplay } from './run/follow.ts';
import type { ResponseRun } from './run/response-run.ts';
import { editSummary, undoSummary } from './run/summaries.ts';

type Endpoints = typeof endpoints;

const messageStream = { 'x-vercel-ai-ui-message-stream': 'v1' };
/**
 * The head of a response stream is sent after this time even when the model is silent: within the 15 s of contract.md
 * section 6, with half a second for the network.
 */
const silentHeadMs = 14_500;
const silenceComment = ': waiting for the model\n\n';

export const postChatStart: Handler<Deps, Endpoints['postChatStart']> = async (deps, { actor, body }) => {
  const { input } = await admitInput(deps, body, { ownerId: actor.id, graceMs: deps.responses.timings.graceMs });
  return { messageId: input.id };
};

export const postTurnInput: Handler<Deps, Endpoints['postTurnInput']> = async (deps, { actor, body }) => {
  const { input, repeated } = await admitInput(deps, body, { ownerId: actor.id, graceMs: 0 });
  return new Reply({ input: viewAdmitted(input, body.message.parts) }, { status: repeated ? 200 : 201 });
};

export const getTurnInputs: Handler<Deps, Endpoints['getTurnInputs']> = async (deps, { actor, query, request }) => {
  await assertOwnedChat(deps.db.kysely, actor.id, query.chatId);
  const read = async () => {
    const inputs = [];
    for (const row of await listQueuedInputs(deps.db.kysely, query.chatId)) {
      inputs.push(viewInput(row));
      await setImmediate();
    }
    return { inputs };
  };
  return largeReads.run(actor.id, read, request.signal);
};

export const patchTurnInput: Handler<Deps, Endpoints['patchTurnInput']> = async (deps, { actor, body }) => {
  await assertOwnedChat(deps.db.kysely, actor.id, body.chatId);
  const input = await steerInput(deps, body.chatId, body.id);
  deps.responses.notifyActivity(actor.id, body.chatId);
  return { input: viewInput(input) };
};

export const deleteTurnInput: Handler<Deps, Endpoints['deleteTurnInput']> = async (deps, { actor, query }) => {
  await assertOwnedChat(deps.db.kysely, actor.id, query.chatId);
  return { ok: true, input: viewInput(await cancelInput(deps, query.chatId, query.id)) };
};

/** Starts, joins, regenerates or resumes (contract.md section 6). */
export const postChatResponse: Handler<Deps, Endpoints['postChatResponse']> = async (
  deps,
  { actor, body, request },
) => {
  const headDue = deps.clock.elapsed() + silentHeadMs;
  // Before the claim: the message stays in the queue, and is answered without a stream.
  if (body.detach !== true) assertRoomForStream(deps, actor);
  const { outcome, run } = await deps.responses.answers.during(actor.id, async (isFull) => {
    const outcome = await claimFresh(deps, actor.id, body, isFull);
    return { outcome, run: deps.responses.adopt(outcome) };
  });
  const assistantId = assistantOf(outcome);
  if (body.detach === true || outcome.kind === 'waiting') {
    return new Reply({ admitted: true, assistantId }, { status: 202 });
  }
  const beginning = outcome.kind === 'claimed' && run !== undefined ? await beginningOf(deps, run, headDue) : undefined;
  if (beginning?.failure !== undefined) throw beginning.failure;
  const replay = outcome.kind === 'ended' ? await readReplay(deps, assistantId) : undefined;
  const { stream, left } = openStream(deps, actor, request, messageStream);
  if (beginning?.isSilent === true) stream.write(silenceComment);
  if (replay === undefined) follow(deps, assistantId, 0, stream, left);
  else stream.end(replay);
  return streamed;
};

export const getChatStream: Handler<Deps, Endpoints['getChatStream']> = async (
  deps,
  { actor, params, query, request },
) => {
  // A returning browser names its last event, at the address where it began.
  const after = lastEventId(request) ?? query.after ?? 0;
  await assertOwnedChat(deps.db.kysely, actor.id, params.chatId);
  assertRoomForStream(deps, actor);
  await deps.responses.interruptExpired({ chatId: params.chatId });
  const running = await findFollowable(deps.db.kysely, params.chatId);
  if (running === undefined) return new Reply(undefined, { status: 204 });
  const { stream, left } = openStream(deps, actor, request, messageStream);
  follow(deps, running.id, after, stream, left);
  return streamed;
};

export const postChatStop: Handler<Deps, Endpoints['postChatStop']> = async (deps, { actor, params, body }) => {
  await assertOwnedChat(deps.db.kysely, actor.id, params.chatId);
  const stopped = await requestStop(deps, params.chatId, body?.assistantId);
  if (stopped !== undefined) deps.responses.stopLocally(stopped);
  return { stopped: stopped !== undefined, assistantId: stopped ?? null };
};

/** Answers as soon as the model is being asked; the result is in the stream and in the conversation. */
export const postChatCompact: Handler<Deps, Endpoints['postChatCompact']> = async (deps, { actor, body }) => {
  if (deps.responses.draining) throw restarting();
  await deps.responses.interruptExpired({ chatId: body.id });
  const run = await deps.responses.answers.during(actor.id, async (isFull) => {
    const request = { chatId: body.id, ownerId: actor.id, focus: body.focus, isFull };
    return deps.responses.begin(await claimCompaction(deps, request, deps.responses.maker));
  });
  const failure = await run.begun;
  if (failure !== undefined) throw failure;
  return { admitted: true, assistantId: run.response.id };
};

export const patchSummary: Handler<Deps, Endpoints['patchSummary']> = async (deps, { actor, body }) => {
  await assertOwnedChat(deps.db.kysely, actor.id, body.chatId);
  const summary = await editSummary(deps.db.kysely, body.chatId, body.id, body.text);
  deps.responses.notifyActivity(actor.id, body.chatId);
  return { summary };
};

export const deleteSummary: Handler<Deps, Endpoints['deleteSummary']> = async (deps, { actor, query }) => {
  await assertOwnedChat(deps.db.kysely, actor.id, query.chatId);
  await undoSummary(deps.db.kysely, query.chatId, query.id);
  deps.responses.notifyActivity(actor.id, query.chatId);
  return { ok: true };
};

/** PATCH /api/chats: here, because the files of a conversation that moves into a project go with it. */
export const patchChat: Handler<Deps, Endpoints['patchChat']> = async (deps, input) => {
  const { actor, body } = input;
  const changed = await updateChat(deps, actor.id, body.id, body, {
    moveFiles: moveChatArtifacts,
    by: sourceOf(input),
  });
  deps.responses.notifyActivity(actor.id, body.id);
  return changed;
};

/** Holds the connection and reports each conversation that changes, whichever client or replica caused it. */
export const getChatActivity: Handler<Deps, Endpoints['getChatActivity']> = async (
  deps,
  { actor, request },
): Promise<typeof streamed> => {
  const { activity } = deps.responses;
  activity.assertRoom(actor.id);
  const { stream, left } = openStream(deps, actor, request);
  if (!left.aborted) left.addEventListener('abort', activity.follow(actor.id, stream), { once: true });
  return streamed;
};

/** Answers a waiting tool; if its response was interrupted meanwhile, it continues here. */
export const postChatApproval: Handler<Deps, Endpoints['postChatApproval']> = async (deps, input) => {
  const { actor, params, body } = input;
  await deps.responses.interruptExpired({ chatId: params.chatId });
  const { isRunning } = await answerApproval(deps, actor.id, params.chatId, body, sourceOf(input));
  if (!isRunning) await deps.responses.continueAnswered(params.chatId);
  return { ok: true };
};

/** Answers the questions of `ask`, in the same way. */
export const postChatAnswers: Handler<Deps, Endpoints['postChatAnswers']> = async (deps, { actor, params, body }) => {
  await deps.responses.interruptExpired({ chatId: params.chatId });
  const { isRunning } = await answerQuestion(deps, actor.id, params.chatId, body);
  if (!isRunning) await deps.responses.continueAnswered(params.chatId);
  return { ok: true };
};

export const deleteChat: Handler<Deps, Endpoints['deleteChat']> = async (deps, { actor, query }) => {
  await assertOwnedChat(deps.db.kysely, actor.id, query.id);
  const stopped = await requestStop(deps, query.id, undefined);
  if (stopped !== undefined) deps.responses.stopLocally(stopped);
  await deleteOwnedChat(deps, actor.id, query.id);
  deps.responses.notifyActivity(actor.id, query.id);
  return { ok: true };
};

/** Claims the input; an abandoned response that blocks it is ended first. */
async function claimFresh(deps: Deps, ownerId: string, body: ChatBody, isFull: boolean): Promise<ClaimOutcome> {
  if (typeof body.modelId === 'string' && body.modelPinned !== false) {
    await assertVisibleModel(deps, catalogueOwner(deps.config, ownerId), body.modelId).catch(async (error) => {
      // A request that joins a response decides nothing by naming its model again, even if the model no longer exists;
      // and a turn with the conversation's model reports itself that the model is no longer shared.
      const { kysely } = deps.db;
      if (await hasBegun(kysely, ownerId, body)) return;
      const chat = kysely.selectFrom('chats').select('model_id').where('id', '=', body.chatId);
      const pinned = await chat.where('owner_id', '=', ownerId).executeTakeFirst();
      if (pinned?.model_id !== body.modelId) throw error;
    });
  }
  await assertOwnedMcpServers(deps.db.kysely, ownerId, body.mcpServerIds ?? []);
  const outcome = await claim(deps, ownerId, body, isFull);
  if (outcome.kind !== 'running' && outcome.kind !== 'waiting') return outcome;
  const interrupted = await deps.responses.interruptExpired({ chatId: body.chatId });
  return interrupted.length === 0 ? outcome : claim(deps, ownerId, body, isFull);
}

async function claim(deps: Deps, ownerId: string, body: ChatBody, isFull: boolean): Promise<ClaimOutcome> {
  const { chatId, messageId } = body;
  const request = { chatId, ownerId, decision: decisionOf(body), isFull };
  const { maker, draining } = deps.responses;
  if (messageId !== undefined && body.regenerate !== true) {
    return draining ? findOutcome(deps, { ...request, messageId }) : claimInput(deps, { ...request, messageId }, maker);
  }
  if (draining) throw restarting();
  if (messageId !== undefined) await deps.disk.assertRoom('messages');
  return messageId === undefined
    ? claimResumption(deps, request, maker)
    : claimRegeneration(deps, { ...request, messageId }, maker);
}

/** Waits for the first frame of a response, for the failure that came before it, or until its head is due. */
async function beginningOf(
  { clock }: Pick<Deps, 'clock'>,
  run: Pick<ResponseRun, 'begun'>,
  headDue: number,
): Promise<{ failure?: ApiError; isSilent: boolean }> {
  const waited = new AbortController();
  const silence = clock.sleep(Math.max(0, headDue - clock.elapsed()), waited.signal).then(
    () => ({ isSilent: true }),
    () => ({ isSilent: false }),
  );
  try {
    return await Promise.race([run.begun.then((failure) => ({ failure, isSilent: false })), silence]);
  } finally {
    waited.abort();
  }
}

function assertRoomForStream(deps: Deps, actor: Actor): void {
  if (!deps.responses.streams.isFull(actor.id)) return;
  throw new ApiError('rate_limited', 'Too many streams of this account are open', { retryAfter: 30 });
}

function restarting(): ApiError {
  return new ApiError('database_unavailable', 'The service is restarting. Try again.', { retryAfter: 2 });
}

function assistantOf(outcome: ClaimOutcome): string {
  if (outcome.kind === 'waiting' || outcome.kind === 'ended') return outcome.assistantId;
  if (outcome.kind === 'nothing') throw new ApiError('not_found', 'Message not found');
  return outcome.response.id;
}

const gone = new DOMException('The reader has left', 'AbortError');

/**
 * Closing a follower removes only the follower: disconnecting is not Stop. The end of the session closes it too; while
 * the database is unavailable, no session ends.
 */
function openStream(
  deps: Deps,
  { id: ownerId, sessionId }: Actor,
  request: RequestFacts,
  headers: Record<string, string> = {},
): { stream: Follower; left: AbortSignal } {
  const leaving = new AbortController();
  leaving.signal.addEventListener('abort', deps.responses.streams.take(ownerId), { once: true });
  const stream = new EventStream(request.outgoing, { ...headers, 'x-request-id': request.id }, () =>
    leaving.abort(gone),
  );
  const end = () => {
    leaving.abort(gone);
    stream.end('');
  };
  if (request.method === 'HEAD') end();
  if (leaving.signal.aborted) return { stream, left: leaving.signal };
  const unwatch = deps.sessions.watch(sessionId, end, { endsUnchecked: false });
  leaving.signal.addEventListener('abort', unwatch, { once: true });
  return { stream, left: leaving.signal };
}

function follow(deps: Deps, responseId: string, after: number, stream: Follower, left: AbortSignal): void {
  followResponse(deps, responseId, after, stream, left).catch((error) => {
    deps.log.warn({ cause: error }, 'failed to stream a response to its reader');
    stream.end('');
  });
}

function lastEventId(request: RequestFacts): number | undefined {
  const value = request.headers.get('last-event-id');
  if (value === null || value === '') return undefined;
  if (!/^\d{1,15}$/.test(value)) {
    throw new ApiError('invalid_request', 'The request is not valid. last-event-id: not a sequence number', {
      details: [{ path: 'last-event-id', message: 'Not a sequence number' }],
    });
  }
  return Number(value);
}

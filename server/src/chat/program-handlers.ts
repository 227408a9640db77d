import { randomUUIDv7 } from 'node:crypto';
import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import type { Deps } from '../deps.ts';
import { validate } from '../http/body/validate.ts';
import type { Handler } from '../http/handler.ts';
import { assertMayAsk, takeCall } from './gateway/allowance.ts';
import { answerCall } from './gateway/answer-handlers.ts';
import { createChatWriter } from './gateway/chat/answer.ts';
import { parseChat } from './gateway/chat/request.ts';
import { modelCall } from './gateway/model-call.ts';
import { listModels, modelOf, openAiModel } from './gateway/models.ts';

type Endpoints = typeof endpoints;

/** GET /api/internal/v1/models */
export const getInternalModels: Handler<Deps, Endpoints['getInternalModels']> = async (deps, { actor }) => {
  await assertMayAsk(deps, actor.id, 'list');
  const models = await listModels(deps, actor.id);
  return { object: 'list', data: models.map(openAiModel) };
};

/** POST /api/internal/v1/chat/completions */
export const postInternalCompletion: Handler<Deps, Endpoints['postInternalCompletion']> = async (
  deps,
  { actor, body, request },
) => {
  const userId = actor.id;
  const asked = parseChat(body, validate);
  await assertMayAsk(deps, userId, 'call');
  const release = takeCall(userId);
  const revoked = new AbortController();
  const end = () => revoked.abort(new ApiError('unauthorized', 'The token of the workspace is no longer valid'));
  const unwatch = deps.programs.watch(actor.tokenHash ?? '', end, { endsUnchecked: false });
  try {
    const resolved = await modelOf(deps, userId, asked.model);
    const head = {
      id: `chatcmpl-${randomUUIDv7()}`,
      created: Math.floor(deps.clock.now() / 1000),
      model: resolved.model.providerModelId,
    };
    const call = { ownerId: userId, resolved, request: asked.request };
    const answer = await answerCall(modelCall(deps, call), {
      request,
      signal: AbortSignal.any([request.signal, revoked.signal]),
      isStreamed: asked.isStreamed,
      createWriter: (_prepared, send) => createChatWriter(head, { send, hasUsage: asked.hasUsage }),
    });
    return answer;
  } finally {
    unwatch();
    release();
  }
};

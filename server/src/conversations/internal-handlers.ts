import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';

type Endpoints = typeof endpoints;

function notBuilt(): never {
  throw new ApiError('not_found', 'Not built yet');
}

export const getInternalConversations: Handler<Deps, Endpoints['getInternalConversations']> = notBuilt;

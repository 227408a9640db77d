import type { endpoints } from '@homeport/contracts/endpoints';
import type { Deps } from '../deps.ts';
import type { Handler } from '../http/handler.ts';
import { readList, readOverview, readTurns } from './export/transcript.ts';
import { textFile } from './handlers.ts';

type Endpoints = typeof endpoints;

/** GET /api/internal/conversations: for the command-line tool in the caller's workspace. */
export const getInternalConversations: Handler<Deps, Endpoints['getInternalConversations']> = async (
  deps,
  { actor, query, request },
) => {
  const { chatId, mode = 'overview', format = 'markdown', turn } = query;
  const read = () => {
    if (chatId === undefined) return readList(deps, actor.id, { ...query, format });
    if (mode === 'overview') return readOverview(deps, actor.id, { chatId, format });
    return readTurns(deps, actor.id, { chatId, format, turn: mode === 'turn' ? turn : undefined });
  };
  return textFile(deps, await read(), request.outgoing);
};

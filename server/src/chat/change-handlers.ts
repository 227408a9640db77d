import type { ChangesDone } from '@homeport/contracts/chat/changes';
import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import type { Deps } from '../deps.ts';
import { attachment } from '../http/content-disposition.ts';
import { untrustedHeaders } from '../http/file-response.ts';
import { type Handler, streamed } from '../http/handler.ts';
import { applyChanges, type Direction, listChanges, noChanges, openVersion } from '../workspaces/changes.ts';
import { streamBody } from '../workspaces/daemon-response.ts';
import { withFiles } from '../workspaces/files.ts';
import { assertEnded, findWritingAnswer } from './run/prepare/turn-changes.ts';

type Endpoints = typeof endpoints;

/** GET /api/chats/changes. The workspace starts only for an answer that used it. */
export const getChatChanges: Handler<Deps, Endpoints['getChatChanges']> = async (deps, { actor, query, request }) => {
  const { mayHaveWritten } = await findWritingAnswer(deps.db.kysely, actor.id, query);
  if (!mayHaveWritten) return noChanges;
  return withFiles(deps, actor.id, request.signal, (hold) => listChanges(hold, query.messageId));
};

export const getChatChangesFile: Handler<Deps, Endpoints['getChatChangesFile']> = async (
  deps,
  { actor, query, request },
): Promise<typeof streamed> => {
  const { mayHaveWritten } = await findWritingAnswer(deps.db.kysely, actor.id, query);
  if (!mayHaveWritten) throw new ApiError('not_found', 'This answer changed no files');
  return withFiles<typeof streamed>(deps, actor.id, request.signal, async (hold) => {
    const { size, body } = await openVersion(hold, query.messageId, query.path, query.side);
    request.outgoing.writeHead(200, {
      ...untrustedHeaders(request),
      'content-disposition': attachment(query.path.split('/').at(-1) ?? 'file'),
      'content-type': 'application/octet-stream',
      'content-length': size,
    });
    if (request.method === 'HEAD') {
      body.destroy();
      request.outgoing.end();
    } else await streamBody(body, request.outgoing, hold.touch);
    return streamed;
  });
};

export const postChatChangesUndo: Handler<Deps, Endpoints['postChatChangesUndo']> = (deps, input) =>
  change(deps, input, 'undo');

export const postChatChangesRedo: Handler<Deps, Endpoints['postChatChangesRedo']> = (deps, input) =>
  change(deps, input, 'redo');

async function change(
  deps: Deps,
  { actor, body, request }: Pick<Parameters<typeof postChatChangesUndo>[1], 'actor' | 'body' | 'request'>,
  direction: Direction,
): Promise<ChangesDone> {
  const answer = await findWritingAnswer(deps.db.kysely, actor.id, body);
  assertEnded(answer);
  if (!answer.mayHaveWritten) return { ...noChanges, skipped: [] };
  return withFiles(deps, actor.id, request.signal, async (hold) => {
    const skipped = await applyChanges(hold, body.messageId, direction, { paths: body.paths, force: body.force });
    return { ...(await listChanges(hold, body.messageId)), skipped };
  });
}

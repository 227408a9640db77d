import type { endpoints } from '@homeport/contracts/endpoints';
import { ApiError } from '@homeport/contracts/errors';
import { clearedCookie, cookieRule } from '../accounts/session-cookie.ts';
import { recordEvent } from '../audit/audit.ts';
import type { Deps } from '../deps.ts';
import { attachment } from '../http/content-disposition.ts';
import { untrustedHeaders } from '../http/file-response.ts';
import { type Handler, Reply, sourceOf, streamed } from '../http/handler.ts';
import { assertOwnWord, deleteAccount } from './delete-account.ts';
import { exportAccount } from './export-account.ts';

type Endpoints = typeof endpoints;

/** Archives made at once in this process, each for another person. */
const exportsMax = 4;
const exporting = new Set<string>();

/** GET /api/me/export */
export const getMyExport: Handler<Deps, Endpoints['getMyExport']> = async (deps, input): Promise<typeof streamed> => {
  const { actor, request } = input;
  if (exporting.has(actor.id) || exporting.size >= exportsMax) {
    throw new ApiError('rate_limited', 'Another export is being made. Try again when it has ended.', {
      retryAfter: 30,
    });
  }
  const { outgoing } = request;
  const writeHead = () => {
    const day = new Date(deps.clock.now()).toISOString().slice(0, 10);
    outgoing.writeHead(200, {
      ...untrustedHeaders(request),
      'content-type': 'application/zip',
      'content-disposition': attachment(`homeport-export-${day}.zip`),
    });
  };
  if (request.method === 'HEAD') {
    writeHead();
    outgoing.end();
    return streamed;
  }
  exporting.add(actor.id);
  try {
    const event = { action: 'user.exported', targetType: 'user', targetId: actor.id } as const;
    await recordEvent(deps.db.kysely, sourceOf(input), event);
    writeHead();
    await exportAccount(deps, actor.id, outgoing, request.signal);
  } catch (error) {
    if (!outgoing.headersSent) throw error;
    // Breaks the connection, so that a client can't mistake half an archive for a complete one.
    outgoing.destroy();
    if (!request.signal.aborted) deps.log.warn({ cause: error }, 'an export was cut off');
  } finally {
    exporting.delete(actor.id);
  }
  return streamed;
};

/** DELETE /api/me */
export const deleteMe: Handler<Deps, Endpoints['deleteMe']> = async (deps, input) => {
  const { actor, body, request } = input;
  await assertOwnWord(deps, actor, body, { address: request.address, requestId: request.id, signal: request.signal });
  await deleteAccount(deps, actor.id, 'delete', sourceOf(input));
  const rule = cookieRule(deps.config);
  const cookies = [clearedCookie(rule, 'session_token'), clearedCookie(rule, 'dont_remember')];
  return new Reply({ ok: true }, { headers: cookies.map((cookie) => ['set-cookie', cookie]) });
};

/** DELETE /api/admin/users */
export const deleteAdminUser: Handler<Deps, Endpoints['deleteAdminUser']> = async (deps, input) => {
  const { id, data } = input.query;
  if (id === input.actor.id) {
    const message = 'Delete your own account in your settings, with your password';
    throw new ApiError('invalid_request', message, { details: [{ path: 'id', message }] });
  }
  await deleteAccount(deps, id, data, sourceOf(input));
  return { ok: true };
};

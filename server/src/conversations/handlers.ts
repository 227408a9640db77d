import type { ServerResponse } from 'node:http';
import type { endpoints } from '@homeport/contracts/endpoints';
import { attachment } from '../http/content-disposition.ts';
import { Content, type Handler, sourceOf } from '../http/handler.ts';
import { largeReads } from '../platform/concurrency/account-semaphore.ts';
import { encodeUtf8 } from '../platform/json/json-pieces.ts';
import type { Platform } from '../platform.ts';
import { readChatDetail } from './chat-detail.ts';
import { listChats } from './chat-list.ts';
import { createChat } from './chats.ts';
import { type ConversationExport, exportConversation } from './export/export.ts';
import { leaveProject } from './leave-project.ts';
import { readAnswerContext } from './prompt-context-view.ts';
import { searchChats } from './search/search.ts';

type Endpoints = typeof endpoints;
type Needs = Pick<Platform, 'db' | 'config' | 'log'>;

export const getChats: Handler<Needs, Endpoints['getChats']> = async (deps, { actor, query, request }) => {
  const { id, before, limit, q } = query;
  if (id !== undefined) {
    const read = async () => jsonText(await readChatDetail(deps, actor.id, { id, before, limit }));
    return largeReads.run(actor.id, read, request.signal);
  }
  return q === undefined || q === '' ? listChats(deps, actor.id, query) : searchChats(deps, actor.id, q, query);
};

export const postChat: Handler<Needs, Endpoints['postChat']> = async (deps, { actor, body }) => ({
  chat: await createChat(deps, actor.id, body),
});

/** DELETE /api/projects/members: here, because conversations leave with their owner. */
export const deleteProjectMember: Handler<Needs, Endpoints['deleteProjectMember']> = async (deps, input) => {
  await leaveProject(deps, input.actor.id, input.query, sourceOf(input));
  return { ok: true };
};

/** GET /api/chats/context */
export const getChatContext: Handler<Needs, Endpoints['getChatContext']> = (deps, { actor, query }) =>
  readAnswerContext(deps, actor.id, query);

export const exportChat: Handler<Needs, Endpoints['exportChat']> = async (deps, { actor, query, request }) => {
  return textFile(deps, await exportConversation(deps, actor.id, query), request.outgoing);
};

/** Streams text to the client as a file to save. */
export function textFile(deps: Needs, file: ConversationExport, outgoing: ServerResponse): Content {
  return new Content(breakingOff(deps, file.chunks, outgoing), {
    'content-type': `${file.mediaType}; charset=utf-8`,
    'content-disposition': attachment(file.filename),
    'content-security-policy': "default-src 'none'; sandbox",
  });
}

/**
 * Destroys the connection if a file cannot be completed, so that the client cannot take half of it for the whole, or an
 * error for its end.
 */
async function* breakingOff(
  deps: Needs,
  chunks: AsyncGenerator<string, void>,
  outgoing: ServerResponse,
): AsyncGenerator<string, void> {
  try {
    yield* chunks;
  } catch (error) {
    deps.log.warn({ cause: error }, 'an export was cut off');
    outgoing.destroy();
  }
}

async function jsonText(text: string): Promise<Content> {
  return new Content(await encodeUtf8(text), {});
}

import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';
import { changesApplied, turnChanges } from '../workspace/daemon.ts';

/** The files of the workspace that an answer changed, and the way back (contract.md section 11, "Agent"). */

const answer = z.object({ chatId: fields.id, messageId: fields.id });
const wish = answer.extend({
  /** Files or folders; all of them by default. */
  paths: z.array(z.string().min(1).max(limits.workspacePathMax)).min(1).max(limits.changedPathsMax).optional(),
  /** Also overwrites files that were changed since. */
  force: z.boolean().optional(),
});
/** The state afterwards; `skipped` lists unchanged files with the reason. */
const done = turnChanges.extend({ skipped: changesApplied.shape.skipped });
export type ChangesDone = z.infer<typeof done>;

const workspaceErrors = ['workspace_disabled', 'workspace_start_timeout', 'workspace_request_failed'] as const;
const writing = ['not_found', 'invalid_path', 'files_changed', 'response_running', ...workspaceErrors] as const;

export const changesEndpoints = {
  getChatChanges: endpoint({
    method: 'GET',
    path: '/api/chats/changes',
    access: 'session',
    scope: 'chats:read',
    summary: 'The files of the workspace that an answer added, modified and deleted, also by its commands',
    query: answer,
    response: turnChanges,
    errors: ['not_found', ...workspaceErrors],
  }),
  getChatChangesFile: endpoint({
    method: 'GET',
    path: '/api/chats/changes/file',
    access: 'session',
    summary: 'A file as it was before an answer changed it, or as the answer left it',
    query: answer.extend({
      path: z.string().min(1).max(limits.workspacePathMax),
      side: z.enum(['before', 'after']),
    }),
    response: 'file',
    errors: ['not_found', 'invalid_path', ...workspaceErrors],
  }),
  postChatChangesUndo: endpoint({
    method: 'POST',
    path: '/api/chats/changes/undo',
    access: 'session',
    summary:
      'Puts files back as they were before an answer; 409 `files_changed` names those changed since in `details.paths`',
    body: wish,
    response: done,
    errors: writing,
  }),
  postChatChangesRedo: endpoint({
    method: 'POST',
    path: '/api/chats/changes/redo',
    access: 'session',
    summary: 'Brings back what an undo took away; 409 `files_changed` names files changed since in `details.paths`',
    body: wish,
    response: done,
    errors: writing,
  }),
} as const;

import { type WorkspaceNotes, workspaceNotes } from '@homeport/contracts/workspace/daemon';
import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import { unlessAborted } from '../platform/waits.ts';
import type { Daemon } from './daemon.ts';
import type { Workspaces } from './workspaces.ts';

/** Notes on a workspace for prompts: from the daemon while it runs, otherwise the last stored ones. */

/** Never waits for a start. `isRunning` if the daemon has just answered; no notes if nothing is known yet. */
export async function readNotes(
  { db, workspaces }: { db: { kysely: Queryable }; workspaces: Pick<Workspaces, 'ask' | 'timings'> },
  userId: string,
  signal: AbortSignal,
): Promise<{ isRunning: boolean; notes: WorkspaceNotes | undefined }> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(workspaces.timings.notesMs)]);
  const asking = workspaces.ask(userId, (daemon) => fetchNotes(db.kysely, userId, daemon, within));
  const reported = await unlessAborted(asking, within).catch(() => undefined);
  signal.throwIfAborted();
  if (reported !== undefined) return { isRunning: true, notes: reported };
  const query = db.kysely.selectFrom('workspace_notes').select('notes').where('user_id', '=', userId);
  return { isRunning: false, notes: (await query.executeTakeFirst())?.notes };
}

/** Asks the daemon, and keeps its answer for when it does not run. */
export async function fetchNotes(
  db: Queryable,
  userId: string,
  daemon: Daemon,
  signal: AbortSignal,
): Promise<WorkspaceNotes> {
  const notes = await daemon.call('/v1/notes', workspaceNotes, { signal });
  // PostgreSQL stores neither NUL nor half a character.
  const json = JSON.stringify(notes, (_key, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '') : value,
  );
  // Usually nothing has changed, and then nothing is written: the conflict alone would lock the row and wait for the
  // disk.
  await sql`
    insert into workspace_notes (user_id, notes) select ${userId}, ${json}::jsonb
    where not exists (select from workspace_notes where user_id = ${userId} and notes = ${json}::jsonb)
    on conflict (user_id) do update set notes = excluded.notes`.execute(db);
  return notes;
}

/** The folder that the conversation's tools last worked in; `~` where none is known. */
export async function readFolder(db: Queryable, chatId: string): Promise<string> {
  const row = await db.selectFrom('chat_folders').select('folder').where('chat_id', '=', chatId).executeTakeFirst();
  return row?.folder ?? '~';
}

/** Does nothing for a conversation that is gone. */
export async function recordFolder(db: Queryable, chatId: string, folder: string): Promise<void> {
  await db
    .insertInto('chat_folders')
    .columns(['chat_id', 'folder'])
    .expression((eb) =>
      eb
        .selectFrom('chats')
        .select(['id', eb.val(folder).as('folder')])
        .where('id', '=', chatId),
    )
    .onConflict((conflict) => conflict.column('chat_id').doUpdateSet({ folder }))
    .execute();
}

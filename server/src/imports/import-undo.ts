import { deleteUntouched, showNewest } from '../conversations/imported-chats.ts';
import { deleteImportedMessages } from '../conversations/messages.ts';
import { inTransaction } from '../db/pool.ts';
import type { Platform } from '../platform.ts';
import { deleteEmptyProject } from '../projects/projects.ts';
import { forgetEntries, importedEntries } from './import-entries.ts';
import { undoOwn } from './import-own.ts';
import { endUndo } from './import-records.ts';

const atOnce = 50;

/**
 * Removes everything that an import added, in batches of conversations; can simply be repeated after a crash.
 * Conversations that were continued here stay, and so do changed items.
 */
export async function undoImport(
  deps: Pick<Platform, 'db'>,
  run: { id: string; owner_id: string },
  signal: AbortSignal,
): Promise<void> {
  let [kept, keptProjects, keptOwn] = [0, 0, 0];
  for (;;) {
    signal.throwIfAborted();
    const entries = await importedEntries(deps.db.kysely, run.id, atOnce);
    if (entries.length === 0) break;
    await inTransaction(deps.db, async (trx) => {
      const chats = entries.filter(({ kind }) => kind === 'conversation');
      const added = chats
        .filter(({ outcome }) => outcome === 'new')
        .map(({ target, last }) => ({ id: target, lastSeq: last ?? 0 }));
      kept += added.length - (await deleteUntouched(trx, run.owner_id, added));
      for (const { target, first, last } of chats.filter(({ outcome }) => outcome === 'more')) {
        const range = { chatId: target, first: first ?? 0, last: last ?? 0 };
        if (await deleteImportedMessages(trx, run.owner_id, range)) await showNewest(trx, target);
        else kept += 1;
      }
      for (const { target } of entries.filter(({ kind }) => kind === 'project')) {
        if (!(await deleteEmptyProject(trx, run.owner_id, target))) keptProjects += 1;
      }
      keptOwn += await undoOwn(trx, run.owner_id, entries);
      await forgetEntries(
        trx,
        run.id,
        entries.map(({ position }) => position),
      );
    });
  }
  const notes = [
    ...(kept > 0 ? [`Left as they are, continued here or deleted before: ${counted(kept, 'conversation')}.`] : []),
    ...(keptOwn > 0
      ? [`Left as they are, changed here or deleted before: ${keptOwn} of the assistants, prompts and skills.`]
      : []),
    ...(keptProjects > 0 ? [`Left as they are because they are in use: ${counted(keptProjects, 'project')}.`] : []),
  ];
  await endUndo(deps.db.kysely, run.id, notes);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

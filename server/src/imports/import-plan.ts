import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import type { NewEntry } from './import-entries.ts';
import { exportedAssistant, exportedPrompt } from './own-fields.ts';
import type { PreparedItem, PreparedOwn } from './prepare.ts';

/** Preview of an import: the contents of an archive, compared with the stored items. */

/** Items that get a row; others say something about the archive as a whole. */
export function hasEntry(item: PreparedItem): item is Exclude<PreparedItem, { kind: 'note' | 'instructions' }> {
  return item.kind !== 'note' && item.kind !== 'instructions';
}

/** True for items that a user created besides conversations. */
export function isOwn(item: PreparedItem): item is PreparedOwn {
  return item.kind === 'assistant' || item.kind === 'prompt' || item.kind === 'skill';
}

/**
 * Compares with what is here. A conversation of Homeport's own export that is still here under its own id is the same
 * one, whatever happened in it since.
 */
export async function planEntries(
  db: Queryable,
  ownerId: string,
  batch: readonly { position: number; item: PreparedItem }[],
): Promise<NewEntry[]> {
  const ids = batch.flatMap(({ item }) =>
    item.kind === 'conversation' ? [item.chat.id, item.sourceId] : item.kind === 'project' ? [item.id] : [],
  );
  const { rows: known } = await sql<{ id: string }>`
    select id from chats where owner_id = ${ownerId} and id = any(${ids})
    union all select project_id from project_members where user_id = ${ownerId} and project_id = any(${ids})`.execute(
    db,
  );
  const here = new Set(known.map(({ id }) => id));
  const messageIds = batch.flatMap(({ item }) =>
    item.kind === 'conversation' && here.has(item.chat.id) ? item.messages.map(({ id }) => id) : [],
  );
  const { rows } = await sql<{ id: string }>`select id from messages where id = any(${messageIds})`.execute(db);
  const stored = new Set(rows.map(({ id }) => id));
  const own = await ownHere(
    db,
    ownerId,
    batch.flatMap(({ item }) => (isOwn(item) ? [item] : [])),
  );
  return batch.map(({ position, item }) => ({
    position,
    ...(isOwn(item) ? planOwn(item, own.get(item)) : planEntry(item, here, stored)),
  }));
}

type Plan = Omit<NewEntry, 'position'>;

function planOwn(item: PreparedOwn, here: string | undefined): Plan {
  const { kind, title, notes, id } = item;
  if (!isWhole(item)) {
    const reason = 'its content is damaged';
    return { kind, title, outcome: 'left_out', reason, messages: 0, files: 0, target: null };
  }
  const files = kind === 'skill' ? item.files.length : 0;
  return {
    kind,
    title,
    messages: 0,
    outcome: here === undefined ? 'new' : 'same',
    target: here ?? id,
    files: here === undefined ? files : 0,
    reason: here !== undefined || notes.length === 0 ? null : notes.join('. '),
  };
}

function isWhole(item: PreparedOwn): boolean {
  if (item.kind === 'skill') return true;
  return (item.kind === 'prompt' ? exportedPrompt : exportedAssistant).safeParse(item.fields).success;
}

function planEntry(
  item: Exclude<PreparedItem, PreparedOwn>,
  here: ReadonlySet<string>,
  stored: ReadonlySet<string>,
): Plan {
  if (item.kind === 'left-out') {
    return {
      kind: 'conversation',
      title: item.title,
      outcome: 'left_out',
      reason: item.reason,
      messages: 0,
      files: 0,
      target: null,
    };
  }
  if (item.kind === 'project') {
    const outcome = here.has(item.id) ? 'same' : 'new';
    return {
      kind: 'project',
      title: item.name,
      outcome,
      reason: null,
      messages: 0,
      files: item.files.length,
      target: item.id,
    };
  }
  if (item.kind !== 'conversation') throw new Error('only conversations and projects have entries');
  const { chat, messages, files, notes } = item;
  const missing = here.has(chat.id) ? messages.filter(({ id }) => !stored.has(id)).length : messages.length;
  const isOwn = item.source === 'homeport' && here.has(item.sourceId);
  const known = missing === 0 ? 'same' : 'more';
  const outcome = isOwn ? 'same' : here.has(chat.id) ? known : 'new';
  return {
    kind: 'conversation',
    title: chat.title,
    outcome,
    messages: outcome === 'same' ? 0 : missing,
    reason: outcome === 'same' || notes.length === 0 ? null : notes.slice(0, 5).join('. '),
    files: outcome === 'same' ? 0 : files.length,
    target: isOwn ? item.sourceId : chat.id,
  };
}

/** Which of these are here already: ids by what makes each the same one. */
async function ownHere(
  db: Queryable,
  ownerId: string,
  batch: readonly PreparedOwn[],
): Promise<ReadonlyMap<PreparedOwn, string>> {
  const wanted = batch.map(({ kind, id, sourceId }, place) => ({ place, kind, id, name: nameOf(kind, sourceId) }));
  const { rows } = await sql<{ place: number; id: string }>`
    select w.place, here.id from json_to_recordset(${JSON.stringify(wanted)}::json) as w (place int, kind text, id text, name text)
    cross join lateral (
      select p.id from prompts p where w.kind = 'prompt' and p.owner_id = ${ownerId} and p.name = w.name
      union all select s.id from skills s
        where w.kind = 'skill' and s.owner_id = ${ownerId} and (s.id = w.id or s.name = w.name)
      union all select a.id from assistants a
        where w.kind = 'assistant' and a.owner_id = ${ownerId} and a.id in (w.id, w.name)
      limit 1) here`.execute(db);
  return new Map(rows.flatMap(({ place, id }) => (batch[place] === undefined ? [] : [[batch[place], id] as const])));
}

/** A skill's source names for whom it was, too. */
function nameOf(kind: PreparedOwn['kind'], sourceId: string): string {
  return kind === 'skill' ? sourceId.slice(sourceId.indexOf('/') + 1) : sourceId;
}

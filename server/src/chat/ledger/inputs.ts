import { createHash, randomUUIDv7 } from 'node:crypto';
import type { Submission } from '@homeport/contracts/chat/chat';
import type { QueuedInput } from '@homeport/contracts/chat/conversations';
import type { MessagePart } from '@homeport/contracts/chat/frames';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { attachedId, findUnattachable } from '../../artifacts/attachments.ts';
import { catalogueOwner } from '../../catalogue/catalogue-owner.ts';
import { assertVisibleModel } from '../../catalogue/models.ts';
import { conversationNotFound } from '../../conversations/chats.ts';
import { parseStoredParts } from '../../conversations/stored-parts.ts';
import { bound, inTransaction, lastly, type Queryable } from '../../db/pool.ts';
import { onFoundRow } from '../../db/row-lookup.ts';
import type { Decision, InputsTable } from '../../db/tables/chat.ts';
import { assertOwnedMcpServers } from '../../mcp/servers.ts';
import { encodeJson, inPieces } from '../../platform/json/json-pieces.ts';
import type { Platform } from '../../platform.ts';
import { projectArchived, projectArchivedColumn } from '../../projects/projects.ts';
import { assertBudget, budgetResetsAt } from '../../usage/budget-rule.ts';
import { signalChannel } from '../log/signals.ts';

/** Submitted inputs (contract.md section 6, first half). Only this file and steering.ts write the table `inputs`. */

export type InputRow = Selectable<InputsTable>;
/** Columns of an input returned to its sender, without the parts: the sender has them, and they can be large. */
const admittedColumns = ['id', 'chat_id', 'assistant_id', 'state', 'steer_rank', 'request_hash', 'created_at'] as const;
type AdmittedInput = Pick<InputRow, (typeof admittedColumns)[number]>;
type Admitting = Pick<Platform, 'db' | 'config'>;

/** Milliseconds before an input of `chat/start` begins by itself if no client requests its stream. */
export type AdmissionOptions = { ownerId: string; graceMs: number };

/**
 * Stores an input, or finds it stored. The same id with the same chat, owner, content and model decision is one input
 * however often it arrives; any difference throws `input_conflict`. Committed before this resolves.
 */
export async function admitInput(
  deps: Admitting,
  submission: Submission,
  options: AdmissionOptions,
): Promise<{ input: AdmittedInput; repeated: boolean }> {
  const parts = await encodeJson(submission.message.parts);
  const requestHash = await hashSubmission(submission, options.ownerId, parts);
  const admitted = await inTransaction(deps.db, async (trx) => {
    const place = await lockPlace(trx, submission, options.ownerId);
    if (place.isRepeated) return undefined;
    await assertReferences(deps, trx, submission, options.ownerId, place);
    assertOpen(place);
    assertBudget(place.budgetResetsAt);
    const statement = sql<AdmittedInput>`
      with admitted as (${admitting(submission, options, { parts, requestHash })}), signaled as (
        select pg_notify(${signalChannel}, ${`input:${submission.chatId}`}) from admitted where ${options.graceMs === 0}
      )
      select a.* from admitted a left join signaled on true`;
    const [input] = await lastly(trx, bound(trx, statement));
    return input;
  });
  if (admitted !== undefined) return { input: admitted, repeated: false };
  // The hash proves that these are the parts; the row of an applied input no longer has them.
  const found = assertSame(await findAdmitted(deps.db.kysely, submission.message.id), requestHash);
  return { input: found, repeated: true };
}

/** State of the conversation that decides whether an input is admitted. */
type Place = {
  isArchived: boolean;
  isProjectArchived: boolean;
  isRepeated: boolean;
  isTaken: boolean;
  hasParent: boolean;
  /** Chosen for the conversation, perhaps no longer shared with its owner: the turn reports that. */
  pinnedModelId: string | null;
  queued: number;
  /** A bigint, as text. */
  queuedBytes: string | number;
  budgetResetsAt: Date | null;
};

/**
 * Locks the conversation: shared with other admissions, exclusive against the end of a response (see response-end.ts).
 */
async function lockPlace(trx: Queryable, { chatId, message, parentId }: Submission, ownerId: string): Promise<Place> {
  const { rows } = await sql<Place>`
    select c.archived as "isArchived", ${sql.raw(projectArchivedColumn('c.project_id'))} as "isProjectArchived",
      exists (select from inputs where id = ${message.id}) as "isRepeated",
      exists (select from messages where id = ${message.id})
        or exists (select from inputs where assistant_id = ${message.id}) as "isTaken",
      exists (select from messages m where m.id = ${parentId ?? null} and m.chat_id = c.id) as "hasParent",
      c.model_id as "pinnedModelId",
      (select count(*)::int from inputs q where q.chat_id = c.id and q.state = 'queued') as queued,
      (select coalesce(sum(octet_length(q.parts)), 0)::int8 from inputs q where q.chat_id = c.id and q.state = 'queued') as "queuedBytes",
      ${sql.raw(budgetResetsAt('c.owner_id'))} as "budgetResetsAt"
    from chats c where c.id = ${chatId} and ${onFoundRow(sql`c.owner_id = ${ownerId}`)} for share of c`.execute(trx);
  const place = rows[0];
  if (place === undefined) throw conversationNotFound();
  return place;
}

/** `parts`: JSON in UTF-8, which the database takes as it is. */
function admitting(
  submission: Submission,
  options: AdmissionOptions,
  { parts, requestHash }: { parts: Buffer; requestHash: string },
): RawBuilder<unknown> {
  const { chatId, message, parentId } = submission;
  return sql`
    insert into inputs (id, chat_id, owner_id, assistant_id, parts, parent_id, parent_given, decision, request_hash, start_after)
    values (${message.id}, ${chatId}, ${options.ownerId}, ${randomUUIDv7()}, ${parts},
      ${parentId ?? null}, ${parentId !== undefined}, ${JSON.stringify(decisionOf(submission))}::jsonb, ${requestHash},
      now() + ${options.graceMs} * interval '1 millisecond')
    on conflict (id) do nothing returning ${sql.raw(admittedColumns.join(', '))}`;
}

async function assertReferences(
  deps: Admitting,
  trx: Queryable,
  submission: Submission,
  ownerId: string,
  place: Place,
): Promise<void> {
  const { modelId, modelPinned } = submission;
  if (typeof modelId === 'string' && modelPinned !== false && modelId !== place.pinnedModelId) {
    await assertVisibleModel({ db: { kysely: trx } }, catalogueOwner(deps.config, ownerId), modelId);
  }
  await assertOwnedMcpServers(trx, ownerId, submission.mcpServerIds ?? []);
  await assertAttachable(trx, submission, ownerId);
  if (typeof submission.parentId === 'string' && !place.hasParent) throw new ApiError('not_found', 'Message not found');
}

function assertOpen(place: Place): void {
  if (place.isArchived) throw new ApiError('conversation_archived', 'Restore this conversation before writing in it');
  if (place.isProjectArchived) throw projectArchived();
  if (place.isTaken) throw inputConflict();
  if (place.queued >= limits.queuedInputsPerChat) {
    throw new ApiError(
      'rate_limited',
      `At most ${limits.queuedInputsPerChat} messages can be queued in a conversation`,
      { retryAfter: 10 },
    );
  }
  if (Number(place.queuedBytes) > limits.queuedBytesPerChat) {
    const megabytes = limits.queuedBytesPerChat / 1024 ** 2;
    throw new ApiError('rate_limited', `At most ${megabytes} MB can be queued in a conversation`, { retryAfter: 10 });
  }
}

/** Files attached as `artifact://<id>` must be in this conversation's namespace; the error names those that are not. */
async function assertAttachable(trx: Queryable, { chatId, message }: Submission, ownerId: string): Promise<void> {
  const attached = message.parts.flatMap((part, index) => {
    const id = part.type === 'file' ? attachedId(part.url) : undefined;
    return id === undefined ? [] : [{ id, path: `message.parts.${index}.url` }];
  });
  if (attached.length === 0) return;
  const ids = attached.map(({ id }) => id);
  const missing = await findUnattachable(trx, ownerId, chatId, ids);
  const details = attached
    .filter(({ id }) => missing.has(id))
    .map(({ id, path }) => ({ path, message: `Artifact ${id} not found` }));
  if (details.length > 0) throw new ApiError('not_found', 'Artifact not found', { details });
}

function inputConflict(): ApiError {
  return new ApiError(
    'input_conflict',
    'A message with this id was already submitted with different content, with a different model, or by someone else',
  );
}

function assertSame(input: AdmittedInput | undefined, requestHash: string): AdmittedInput {
  if (input === undefined || input.request_hash !== requestHash) throw inputConflict();
  return input;
}

/**
 * The request hash covers chat, owner, content, branch and model decision, as one JSON list; the schema fixes the order
 * of members. `parts` is the JSON of the content.
 */
async function hashSubmission(submission: Submission, ownerId: string, parts: Buffer): Promise<string> {
  const { chatId, parentId } = submission;
  const branch = parentId === undefined ? 'default' : { parentId };
  const hash = createHash('sha256').update(`${JSON.stringify([ownerId, chatId]).slice(0, -1)},`);
  await inPieces(parts, (piece) => hash.update(piece));
  return hash.update(`,${JSON.stringify([branch, decisionOf(submission)]).slice(1)}`).digest('base64url');
}

/** The given members of a model decision. */
export function decisionOf(body: { [Name in keyof Decision]?: Decision[Name] }): Decision {
  const decision: Decision = {};
  if (body.modelPinned !== undefined) decision.modelPinned = body.modelPinned;
  if (body.modelId !== undefined) decision.modelId = body.modelId;
  if (body.mcpServerIds !== undefined) decision.mcpServerIds = body.mcpServerIds;
  if (body.web !== undefined) decision.web = body.web;
  if (body.parameters !== undefined) decision.parameters = body.parameters;
  return decision;
}

/** A later decision about the model replaces the whole earlier one; so do those about MCP servers and parameters. */
export function overriddenBy(given: Decision, admitted: Decision): Decision {
  // A person takes over: they can be asked.
  const { isUnattended: _, ...earlier } = admitted;
  if (given.modelPinned === undefined && given.modelId === undefined) return { ...earlier, ...given };
  const { mcpServerIds, web, parameters } = earlier;
  return {
    ...(mcpServerIds === undefined ? {} : { mcpServerIds }),
    ...(web === undefined ? {} : { web }),
    ...(parameters === undefined ? {} : { parameters }),
    ...given,
  };
}

/** Stores a later decision for a queued input. Retries are still compared with what it was admitted with. */
export async function overrideDecision(trx: Queryable, input: InputRow, given: Decision): Promise<void> {
  if (Object.keys(given).length === 0) return;
  const decision = JSON.stringify(overriddenBy(given, input.decision));
  await trx.updateTable('inputs').set({ decision }).where('id', '=', input.id).where('state', '=', 'queued').execute();
}

async function findAdmitted(db: Queryable, id: string): Promise<AdmittedInput | undefined> {
  return db.selectFrom('inputs').select(admittedColumns).where('id', '=', id).executeTakeFirst();
}

/** An input of the caller's own conversation, in any state. */
export async function findChatInput(db: Queryable, chatId: string, id: string): Promise<InputRow | undefined> {
  return db.selectFrom('inputs').selectAll().where('id', '=', id).where('chat_id', '=', chatId).executeTakeFirst();
}

/** Inputs still queued, in the order they will be applied. */
export async function listQueuedInputs(db: Queryable, chatId: string): Promise<InputRow[]> {
  return db
    .selectFrom('inputs')
    .selectAll()
    .where('chat_id', '=', chatId)
    .where('state', '=', 'queued')
    .orderBy('steer_rank')
    .orderBy('position')
    .execute();
}

/**
 * Cancels a queued input; doing it twice changes nothing. Throws `input_applied` if it has become a message or is about
 * to.
 */
export async function cancelInput(deps: Pick<Platform, 'db'>, chatId: string, id: string): Promise<InputRow> {
  const cancelled = await deps.db.kysely
    .updateTable('inputs')
    .set({ state: 'cancelled' })
    .where('id', '=', id)
    .where('chat_id', '=', chatId)
    .where('state', '!=', 'applied')
    .where('taken_by', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (cancelled !== undefined) return cancelled;
  const found = await findChatInput(deps.db.kysely, chatId, id);
  if (found === undefined) throw new ApiError('not_found', 'Input not found');
  throw new ApiError('input_applied', 'This input has already been applied');
}

/** Returns the input to apply next. With the chat row locked, no other transaction can apply it. */
export async function nextInput(trx: Queryable, chatId: string): Promise<(InputRow & { due: boolean }) | undefined> {
  return trx
    .selectFrom('inputs')
    .selectAll()
    .select(sql<boolean>`start_after <= now()`.as('due'))
    .where('chat_id', '=', chatId)
    .where('state', '=', 'queued')
    .orderBy('steer_rank')
    .orderBy('position')
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
}

/** The statement that reads an input with those before it. */
export function readingQueue(trx: Queryable, chatId: string, id: string) {
  return trx
    .selectFrom('inputs as i')
    .selectAll('i')
    .select([
      sql<string | null>`(select q.id from inputs q where q.chat_id = i.chat_id and q.state = 'queued'
        order by q.steer_rank, q.position limit 1)`.as('next_id'),
      sql<boolean>`exists (select from responses r where r.chat_id = i.chat_id and r.state = 'running')`.as(
        'is_running',
      ),
    ])
    .where('i.id', '=', id)
    .where('i.chat_id', '=', chatId);
}

/**
 * SQL that marks an input as applied if `condition` holds; returns no row if the input was canceled concurrently. The
 * message has the parts now; the row stays for retries, which can come at any time.
 */
export function applying(id: string, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`update inputs set state = 'applied', parts = '[]' where id = ${id} and state = 'queued' and ${condition} returning id`;
}

const copiesAtOnce = 200;

/** Drops the parts of inputs that an earlier release applied, since their messages have them. */
export const dropCopiesStatement = `
  update inputs set parts = '[]' where ctid = any(array(select ctid from inputs
    where state = 'applied' and parts <> '[]' order by position limit ${copiesAtOnce} for update skip locked))`;

/** Finds the next input, for a statement that ends the response before it. */
export function findingNext(chatId: string): RawBuilder<unknown> {
  return sql`select id, assistant_id from inputs where chat_id = ${chatId} and state = 'queued'
    order by steer_rank, position limit 1 for update`;
}

/** The statement that starts the input of `next` without waiting for a browser, if `condition` holds. */
export function startingAtOnce(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`update inputs set start_after = now() from next where inputs.id = next.id and ${condition}`;
}

/** The rank of those that have none. */
const lastRank = sql.lit(2_147_483_647);

/** Conversations whose next input is due, whose owner is enabled and whose project is not archived, oldest first. */
export async function dueChats(
  db: Queryable,
  limit: number,
  but: { chatIds: readonly string[]; ownerIds: readonly string[] },
): Promise<{ chatId: string; ownerId: string }[]> {
  const { rows } = await sql<{ chatId: string; ownerId: string }>`
    select i.chat_id as "chatId", i.owner_id as "ownerId" from inputs i
    join users u on u.id = i.owner_id and u.enabled
    join chats c on c.id = i.chat_id
    where not ${sql.raw(projectArchivedColumn('c.project_id'))} and i.state = 'queued' and i.start_after <= now()
      and i.chat_id <> all (${but.chatIds}::text[]) and i.owner_id <> all (${but.ownerIds}::text[])
      and not exists (
        select from inputs e where e.chat_id = i.chat_id and e.state = 'queued'
        and (coalesce(e.steer_rank, ${lastRank}), e.position) < (coalesce(i.steer_rank, ${lastRank}), i.position))
      and not exists (select from responses r where r.chat_id = i.chat_id and r.state = 'running')
    order by i.start_after limit ${limit}
  `.execute(db);
  return rows;
}

/** The wire form (contract.md section 6). */
export function viewInput(row: InputRow): QueuedInput {
  return viewAdmitted(row, parseStoredParts(row.parts));
}

/** The same of an input that was just submitted, with its parts. */
export function viewAdmitted(row: AdmittedInput, parts: MessagePart[]): QueuedInput {
  return {
    id: row.id,
    chatId: row.chat_id,
    state: row.state === 'queued' && row.steer_rank !== null ? 'steering' : row.state,
    message: { id: row.id, role: 'user', parts },
    createdAt: row.created_at.toISOString(),
  };
}

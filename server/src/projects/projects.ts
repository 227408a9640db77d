import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import type { User } from '@homeport/contracts/fields';
import { limits } from '@homeport/contracts/limits';
import type { Project, ProjectRole } from '@homeport/contracts/projects';
import { sql } from 'kysely';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import { columnList } from '../db/column-list.ts';
import { afterCursor, encodeCursor, microsOf, pageOf } from '../db/keyset.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';

/**
 * Projects and their members (contract.md section 5). Only this file writes `projects` and `project_members`. Changing
 * members locks the project's row first, so that a project always has an owner.
 */

type Deps = { db: Pick<Database, 'kysely'> };
type Actor = Pick<User, 'id' | 'role'>;

/** The same answer for a missing project and one that is not the caller's. */
function projectNotFound(): ApiError {
  return new ApiError('not_found', 'Project not found');
}

export function projectArchived(): ApiError {
  return new ApiError('project_archived', 'Restore this project first');
}

/** The projects that this user is a member of, by name. */
export async function listProjects(deps: Deps, userId: string, archived: boolean): Promise<Project[]> {
  const { rows } = await projectRows(
    deps.db.kysely,
    userId,
    sql`
    where mine.role is not null and p.archived = ${archived} order by lower(p.name), p.id limit ${limits.projectsPerUser}`,
  );
  return rows.map(viewProject);
}

/** A page of all projects of the installation, newest first, for its administrators. */
export async function listAllProjects(
  deps: Deps,
  userId: string,
  request: { archived: boolean; limit?: number; cursor?: string },
): Promise<{ projects: Project[]; nextCursor: string | null }> {
  const { archived, limit = limits.pageDefault, cursor } = request;
  const { rows } = await projectRows(
    deps.db.kysely,
    userId,
    sql`
    where p.archived = ${archived} and ${afterCursor('p.created_at', 'p.id', cursor)}
    order by p.created_at desc, p.id desc limit ${limit + 1}`,
  );
  const { shown, nextCursor } = pageOf(rows, limit, (last) =>
    encodeCursor({ micros: last.created_micros, id: last.id }),
  );
  return { projects: shown.map(viewProject), nextCursor };
}

/** Creates a project that the user owns. */
export async function createProject(deps: Deps, userId: string, name: string, by: AuditSource): Promise<Project> {
  return inTransaction(deps.db, async (trx) => {
    await assertRoomForProject(trx, userId, 'name');
    const id = randomUUIDv7();
    await trx.insertInto('projects').values({ id, name }).execute();
    await trx.insertInto('project_members').values({ project_id: id, user_id: userId, role: 'owner' }).execute();
    await recordEvent(trx, by, { action: 'project.created', ...targetOf(id), details: { name } });
    return readProject(trx, userId, id);
  });
}

/** A project from an import, owned by the user; one that is there already stays as it is. Returns whether it is new. */
export async function importProject(
  trx: Queryable,
  userId: string,
  project: { id: string; name: string; archived: boolean; instructions: string | null; createdAt: string | null },
): Promise<boolean> {
  const { id, name, archived, instructions, createdAt } = project;
  await assertRoomForProject(trx, userId, 'name');
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('projects')
    .values({ id, name, archived, instructions, ...(createdAt === null ? {} : { created_at: new Date(createdAt) }) })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n) return false;
  await trx.insertInto('project_members').values({ project_id: id, user_id: userId, role: 'owner' }).execute();
  return true;
}

/**
 * Removes a person from every project. In a project where they were the only owner, the longest-standing member becomes
 * one. Returns the projects without remaining members.
 */
export async function leaveEveryProject(trx: Queryable, userId: string): Promise<string[]> {
  const { rows: own } = await sql<{ id: string }>`
    select p.id from projects p where exists (
      select from project_members m where m.project_id = p.id and m.user_id = ${userId}
    ) order by p.id for no key update`.execute(trx);
  const ids = own.map(({ id }) => id);
  await trx.deleteFrom('project_members').where('user_id', '=', userId).execute();
  await sql`
    update project_members m set role = 'owner' from (
      select distinct on (project_id) project_id, user_id from project_members
      where project_id = any(${ids}) order by project_id, added_at, user_id
    ) first
    where m.project_id = first.project_id and m.user_id = first.user_id
      and not exists (select from project_members o where o.project_id = m.project_id and o.role = 'owner')`.execute(
    trx,
  );
  const { rows: empty } = await sql<{ id: string }>`
    select id from unnest(${ids}::text[]) id
    where not exists (select from project_members m where m.project_id = id)`.execute(trx);
  return empty.map(({ id }) => id);
}

/** Deletes projects that have neither members nor conversations, with their files. */
export async function deleteAbandoned(trx: Queryable, ids: readonly string[]): Promise<void> {
  await sql`
    delete from projects p where p.id = any(${ids})
      and not exists (select from project_members m where m.project_id = p.id)
      and not exists (select from chats c where c.project_id = p.id)`.execute(trx);
}

/** Deletes a person's own project with its files, if it has no other member and no conversation. */
export async function deleteEmptyProject(trx: Queryable, userId: string, id: string): Promise<boolean> {
  await trx.selectFrom('projects').select('id').where('id', '=', id).forUpdate().execute();
  const { numAffectedRows } = await sql`
    delete from projects p where p.id = ${id}
      and exists (select from project_members m where m.project_id = p.id and m.user_id = ${userId} and m.role = 'owner')
      and not exists (select from project_members m where m.project_id = p.id and m.user_id <> ${userId})
      and not exists (select from chats c where c.project_id = p.id)`.execute(trx);
  return Number(numAffectedRows ?? 0n) > 0;
}

/**
 * Renames, archives or restores: owners, and administrators of the installation. Throws `not_found` and `forbidden`.
 */
export async function updateProject(
  deps: Deps,
  actor: Actor,
  change: {
    id: string;
    name?: string;
    archived?: boolean;
    instructions?: string | null;
  },
  by: AuditSource,
): Promise<Project> {
  const { id, name, archived, instructions } = change;
  return inTransaction(deps.db, async (trx) => {
    const role = await lockProject(trx, actor.id, id);
    if (role === undefined && actor.role !== 'admin') throw projectNotFound();
    if (role !== 'owner' && actor.role !== 'admin') throw onlyOwners();
    // Installation administrators manage projects, not what is said in them.
    if (instructions !== undefined && role !== 'owner') throw onlyOwners();
    if (name !== undefined || archived !== undefined || instructions !== undefined) {
      const stored = instructions === undefined ? undefined : instructions || null;
      await trx.updateTable('projects').set({ name, archived, instructions: stored }).where('id', '=', id).execute();
      const details = {
        ...(name === undefined ? {} : { name }),
        ...(archived === undefined ? {} : { archived }),
        ...(instructions === undefined ? {} : { changed: ['instructions'] }),
      };
      await recordEvent(trx, by, { action: 'project.updated', ...targetOf(id), details });
    }
    return readProject(trx, actor.id, id);
  });
}

/**
 * Adds a member or changes a member's role; `added` says which. Owners only. Throws `not_found` (also for an unknown
 * address), `forbidden`, and `invalid_request` if no owner would be left.
 */
export async function putMember(
  deps: Deps,
  actorId: string,
  member: { projectId: string; email: string; role: ProjectRole },
  by: AuditSource,
): Promise<{ project: Project; added: boolean }> {
  const { projectId, email, role } = member;
  return inTransaction(deps.db, async (trx) => {
    const own = await lockProject(trx, actorId, projectId);
    if (own === undefined) throw projectNotFound();
    if (own !== 'owner') throw onlyOwners();
    const user = await trx.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst();
    if (user === undefined) throw new ApiError('not_found', 'No user has this e-mail address');
    const before = await findRole(trx, projectId, user.id);
    if (before === undefined) {
      await assertRoomForMember(trx, projectId);
      await assertRoomForProject(trx, user.id, 'email');
      await trx.insertInto('project_members').values({ project_id: projectId, user_id: user.id, role }).execute();
    } else if (before !== role) {
      await memberQuery(trx, projectId, user.id).set({ role }).execute();
      await assertAnOwner(trx, projectId, 'role');
    }
    if (before !== role) {
      const action = before === undefined ? 'project.member_added' : 'project.member_changed';
      await recordEvent(trx, by, { action, ...targetOf(projectId), details: { userId: user.id, role } });
    }
    return { project: await readProject(trx, actorId, projectId), added: before === undefined };
  });
}

/**
 * Removes a member inside the caller's transaction: owners can remove anybody, everybody themselves. Throws
 * `not_found`, `forbidden`, and `invalid_request` if no owner would be left.
 */
export async function removeMember(
  trx: Queryable,
  actorId: string,
  { projectId, userId }: { projectId: string; userId: string },
  by: AuditSource,
): Promise<void> {
  const role = await lockProject(trx, actorId, projectId);
  if (role === undefined) throw projectNotFound();
  if (role !== 'owner' && userId !== actorId) throw onlyOwners();
  const { numDeletedRows } = await trx
    .deleteFrom('project_members')
    .where('project_id', '=', projectId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw new ApiError('not_found', 'This user is not a member of the project');
  await assertAnOwner(trx, projectId, 'userId');
  await recordEvent(trx, by, { action: 'project.member_removed', ...targetOf(projectId), details: { userId } });
}

/** Throws `not_found` unless the user is a member, and `project_archived` if nothing can be added to the project. */
export async function assertOpenProject(db: Queryable, userId: string, projectId: string): Promise<void> {
  const project = await db.selectFrom('projects').select('archived').where('id', '=', projectId).executeTakeFirst();
  await assertOpen(db, userId, projectId, project);
}

/** The same, locked: until the transaction ends, the project is not archived and gets no other files. */
export async function lockOpenProject(trx: Queryable, userId: string, projectId: string): Promise<void> {
  const query = trx.selectFrom('projects').select('archived').where('id', '=', projectId).forNoKeyUpdate();
  await assertOpen(trx, userId, projectId, await query.executeTakeFirst());
}

/**
 * For a statement with `projectId`, an SQL name: whether that project is archived; false for null. A probe per row,
 * never a join.
 */
export function projectArchivedColumn(projectId: string): string {
  return `coalesce((select p.archived from projects p where p.id = ${projectId}), false)`;
}

/** The role is read in a separate statement after the lock, so that it is the one committed while waiting for it. */
async function assertOpen(
  db: Queryable,
  userId: string,
  projectId: string,
  project: { archived: boolean } | undefined,
): Promise<void> {
  if (project === undefined || (await findRole(db, projectId, userId)) === undefined) throw projectNotFound();
  if (project.archived) throw projectArchived();
}

/** Locks the project and returns the user's role in it, undefined if none. Throws `not_found`. */
async function lockProject(trx: Queryable, userId: string, projectId: string): Promise<ProjectRole | undefined> {
  const query = trx.selectFrom('projects').select('id').where('id', '=', projectId).forNoKeyUpdate();
  if ((await query.executeTakeFirst()) === undefined) throw projectNotFound();
  return findRole(trx, projectId, userId);
}

async function findRole(trx: Queryable, projectId: string, userId: string): Promise<ProjectRole | undefined> {
  const row = await trx
    .selectFrom('project_members')
    .select('role')
    .where('project_id', '=', projectId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.role;
}

function memberQuery(trx: Queryable, projectId: string, userId: string) {
  return trx.updateTable('project_members').where('project_id', '=', projectId).where('user_id', '=', userId);
}

async function assertAnOwner(trx: Queryable, projectId: string, path: string): Promise<void> {
  const owner = await trx
    .selectFrom('project_members')
    .select('user_id')
    .where('project_id', '=', projectId)
    .where('role', '=', 'owner')
    .limit(1)
    .executeTakeFirst();
  if (owner === undefined) throw invalid(path, 'A project needs at least one owner: make someone else an owner first');
}

async function assertRoomForMember(trx: Queryable, projectId: string): Promise<void> {
  if ((await countMembers(trx, 'project_id', projectId)) < limits.projectMembersMax) return;
  throw invalid('email', `At most ${limits.projectMembersMax} members`);
}

async function assertRoomForProject(trx: Queryable, userId: string, path: string): Promise<void> {
  if ((await countMembers(trx, 'user_id', userId)) < limits.projectsPerUser) return;
  throw invalid(path, `You can have at most ${limits.projectsPerUser} projects`);
}

async function countMembers(trx: Queryable, column: 'project_id' | 'user_id', id: string): Promise<number> {
  const { count } = await trx
    .selectFrom('project_members')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where(column, '=', id)
    .executeTakeFirstOrThrow();
  return count;
}

function invalid(path: string, message: string): ApiError {
  return new ApiError('invalid_request', message, { details: [{ path, message }] });
}

function onlyOwners(): ApiError {
  return new ApiError('forbidden', 'Only a project owner can do this');
}

function targetOf(id: string) {
  return { targetType: 'project', targetId: id } as const;
}

type ProjectRow = Omit<Project, 'createdAt'> & { created_micros: number };

/** Expressions of a project's fields, in `projectRows`: the only list of them. A missing field does not compile. */
const columns = columnList<ProjectRow>({
  id: 'p.id',
  name: 'p.name',
  archived: 'p.archived',
  role: 'mine.role',
  instructions: 'case when mine.role is not null then p.instructions end',
  members: `(select coalesce(json_agg(json_build_object('userId', u.id, 'name', u.name, 'email', u.email, 'role', m.role)
    order by m.role desc, lower(u.name), u.id), '[]')
    from project_members m join users u on u.id = m.user_id where m.project_id = p.id)`,
  created_micros: microsOf('p.created_at'),
});

/** Projects with their members, owners first, and the membership of `userId` as `mine`. */
function projectRows(db: Queryable, userId: string, rest: ReturnType<typeof sql>) {
  return sql<ProjectRow>`
    select ${sql.raw(columns)} from projects p
    left join project_members mine on mine.project_id = p.id and mine.user_id = ${userId} ${rest}`.execute(db);
}

async function readProject(db: Queryable, userId: string, id: string): Promise<Project> {
  const { rows } = await projectRows(db, userId, sql`where p.id = ${id}`);
  const row = rows[0];
  if (row === undefined) throw projectNotFound();
  return viewProject(row);
}

function viewProject({ created_micros, ...project }: ProjectRow): Project {
  return { ...project, createdAt: new Date(Math.floor(created_micros / 1000)).toISOString() };
}

import { ApiError } from '@homeport/contracts/errors';
import type { ShippedSkill, ShippedSkillChange } from '@homeport/contracts/skills';
import { sql } from 'kysely';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import { type Database, inTransaction, type Queryable } from '../db/pool.ts';
import { researchSkill } from './research-skill.ts';
import type { Reader } from './sharing.ts';
import { skillNotFound } from './skill-library.ts';

/**
 * Skills of the release. They are read-only, and need no review: their text is as trusted as the code beside it. This
 * file writes the table `shipped_skills_off`.
 */

const shippedSkills = [researchSkill] as const;

/** All of them, with the switches that apply to a person. */
export async function listShippedSkills(db: Queryable, userId: string): Promise<ShippedSkill[]> {
  const { rows } = await sql<{ name: string; isForEveryone: boolean }>`
    select name, user_id is null as "isForEveryone" from shipped_skills_off
    where user_id = ${userId} or user_id is null`.execute(db);
  const isOff = (name: string, isForEveryone: boolean) =>
    rows.some((row) => row.name === name && row.isForEveryone === isForEveryone);
  return shippedSkills.map((skill) => ({
    ...skill,
    enabled: !isOff(skill.name, false),
    enabledForEveryone: !isOff(skill.name, true),
  }));
}

/** The skills of the release for a turn of this person. */
export async function findShippedSkills(
  db: Queryable,
  userId: string,
  { hasWeb }: { hasWeb: boolean },
): Promise<ShippedSkill[]> {
  if (!hasWeb && shippedSkills.every(({ needsWeb }) => needsWeb)) return [];
  const all = await listShippedSkills(db, userId);
  return all.filter((skill) => skill.enabled && skill.enabledForEveryone && (hasWeb || !skill.needsWeb));
}

/** The names of those that a person has switched off. */
export async function skillsOffFor(db: Queryable, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('shipped_skills_off')
    .select('name')
    .where('user_id', '=', userId)
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}

/** Switches one on or off. Throws `not_found`, and `forbidden` unless an administrator switches it for everyone. */
export async function changeShippedSkill(
  { db }: { db: Pick<Database, 'kysely'> },
  reader: Reader,
  { name, audience, enabled }: ShippedSkillChange,
  source: AuditSource,
): Promise<ShippedSkill> {
  if (!shippedSkills.some((skill) => skill.name === name)) throw skillNotFound();
  const isForEveryone = audience === 'everyone';
  if (isForEveryone && reader.role !== 'admin') {
    throw new ApiError('forbidden', 'Only administrators switch skills for everyone');
  }
  const userId = isForEveryone ? null : reader.id;
  return inTransaction(db, async (trx) => {
    const { numAffectedRows } = enabled
      ? await sql`delete from shipped_skills_off where name = ${name} and user_id is not distinct from ${userId}`.execute(
          trx,
        )
      : await sql`insert into shipped_skills_off (name, user_id) values (${name}, ${userId}) on conflict do nothing`.execute(
          trx,
        );
    if (isForEveryone && numAffectedRows !== 0n) {
      await recordEvent(trx, source, {
        action: 'skill.updated',
        targetType: 'skill',
        targetId: name,
        details: { name, audience, enabled },
      });
    }
    const changed = (await listShippedSkills(trx, reader.id)).find((skill) => skill.name === name);
    if (changed === undefined) throw skillNotFound();
    return changed;
  });
}

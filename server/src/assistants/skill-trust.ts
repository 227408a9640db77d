import { ApiError } from '@homeport/contracts/errors';
import type { Skill, SkillFile } from '@homeport/contracts/skills';
import { sql } from 'kysely';
import type { AuditSource } from '../audit/audit.ts';
import { type Database, inTransaction } from '../db/pool.ts';
import { type Reader, recordShared, usable } from './sharing.ts';
import { readSkill, skillNotFound, storeTrust, targetOf } from './skill-library.ts';
import { textOf } from './skill-package.ts';

/** Review of another user's skill before its first use: all of its files, with trust by fingerprint. */

type Deps = { db: Pick<Database, 'kysely'> };

/** Returns every file, whole, and the changes since the reader trusted the skill. Throws `not_found`. */
export async function readSkillFiles(
  deps: Deps,
  reader: Reader,
  id: string,
): Promise<{ skill: Skill; files: SkillFile[]; removed: string[] }> {
  return inTransaction(deps.db, async (trx) => {
    // Locks the row, since files are replaced only with the row locked.
    await lockUsable(trx, reader, id);
    const skill = await readSkill(trx, reader, id);
    const files = await trx
      .selectFrom('skill_files')
      .select(['path', 'content', 'sha256'])
      .where('skill_id', '=', id)
      .orderBy('path')
      .execute();
    const trust = await trx
      .selectFrom('skill_trusts')
      .select('files')
      .where('skill_id', '=', id)
      .where('user_id', '=', reader.id)
      .executeTakeFirst();
    const known = new Map(Object.entries(trust?.files ?? {}));
    const changeOf = (path: string, sha256: string): SkillFile['change'] => {
      if (trust === undefined || known.get(path) === sha256) return 'same';
      return known.has(path) ? 'changed' : 'added';
    };
    const there = new Set(files.map(({ path }) => path));
    return {
      skill,
      files: files.map(({ path, content, sha256 }) => ({
        path,
        bytes: content.length,
        sha256,
        text: textOf(content) ?? null,
        change: changeOf(path, sha256),
      })),
      removed: [...known.keys()].filter((path) => !there.has(path)).sort(),
    };
  });
}

/**
 * Trusts the skill if it is still the one that was shown; null takes the trust back. Throws `not_found`,
 * `skill_changed`.
 */
export async function trustSkill(
  deps: Deps,
  reader: Reader,
  { id, fingerprint }: { id: string; fingerprint: string | null },
  source: AuditSource,
): Promise<Skill> {
  return inTransaction(deps.db, async (trx) => {
    await lockUsable(trx, reader, id);
    const skill = await readSkill(trx, reader, id);
    if (fingerprint === null) {
      await trx.deleteFrom('skill_trusts').where('skill_id', '=', id).where('user_id', '=', reader.id).execute();
      return readSkill(trx, reader, id);
    }
    if (fingerprint !== skill.fingerprint) {
      throw new ApiError('skill_changed', 'The skill has changed since you opened it. Review it again.');
    }
    await storeTrust(trx, reader.id, id, fingerprint);
    const details = { name: skill.name, fingerprint };
    await recordShared(trx, source, [skill], { action: 'skill.trusted', ...targetOf(id), details });
    return readSkill(trx, reader, id);
  });
}

async function lockUsable(trx: Parameters<typeof readSkill>[0], reader: Reader, id: string): Promise<void> {
  const { rows } = await sql`
    select s.id from skills s where s.id = ${id} and ${usable('s', reader.id)} for share of s`.execute(trx);
  if (rows.length === 0) throw skillNotFound();
}

import { sql } from 'kysely';
import type { Queryable } from '../db/pool.ts';
import { skillFileName, textOf } from './skill-package.ts';
import { bodyOf } from './skills.ts';

/**
 * The skills that people added, as a turn uses them: switched on, and trusted by the owner of the conversation as they
 * are now.
 */
export type TurnSkill = {
  id: string;
  name: string;
  description: string;
  fingerprint: string;
  /** How many files besides SKILL.md it has. */
  others: number;
};
export type SkillNotice = { code: 'skill_changed'; message: string; values: { name: string } };

const foundMax = 200;

/**
 * Each name once: the owner's own counts before the project's, and that before everyone's. Skills that changed since
 * they were trusted are left out, and `notify` is called: once per conversation for each change.
 */
export async function findTurnSkills(
  db: Queryable,
  { userId, chatId }: { userId: string; chatId: string },
  notify: (notice: SkillNotice) => void,
): Promise<TurnSkill[]> {
  const { rows } = await sql<TurnSkill & { trusted: string }>`
    select s.id, s.name, s.description, s.fingerprint, s.files - 1 as others, t.fingerprint as trusted
    from skill_trusts t join skills s on s.id = t.skill_id
    where t.user_id = ${userId} and s.enabled and (s.audience = 'everyone' or s.audience = 'me' and s.owner_id = ${userId}
      or s.project_id = (select c.project_id from chats c join project_members m on m.project_id = c.project_id
        and m.user_id = ${userId} where c.id = ${chatId}))
    order by case s.audience when 'me' then 1 when 'project' then 2 else 3 end, s.name limit ${foundMax}`.execute(db);
  const skills = new Map<string, TurnSkill>();
  for (const { trusted, ...skill } of rows) {
    if (trusted !== skill.fingerprint) await notifyChange(db, skill, chatId, notify);
    else if (!skills.has(skill.name)) skills.set(skill.name, skill);
  }
  return [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function notifyChange(
  db: Queryable,
  { id, name, fingerprint }: TurnSkill,
  chatId: string,
  notify: (notice: SkillNotice) => void,
): Promise<void> {
  const { rows } = await sql`
    insert into skill_notices as n (skill_id, chat_id, fingerprint)
    select s.id, c.id, ${fingerprint} from skills s, chats c where s.id = ${id} and c.id = ${chatId}
    on conflict (skill_id, chat_id) do update set fingerprint = excluded.fingerprint
      where n.fingerprint <> excluded.fingerprint returning 1`.execute(db);
  if (rows.length === 0) return;
  const message = `The skill “${name}” has changed since you trusted it. It stays unavailable until you review it in Settings › Skills.`;
  notify({ code: 'skill_changed', message, values: { name } });
}

/**
 * The files of a skill that its reader still trusts as it was found; empty when it was changed, switched off or removed
 * since.
 */
async function readContents(db: Queryable, userId: string, skill: TurnSkill, path: string | undefined) {
  const { rows } = await sql<{ path: string; content: Buffer }>`
    select f.path, f.content from skills s
    join skill_trusts t on t.skill_id = s.id and t.user_id = ${userId} and t.fingerprint = s.fingerprint
    join skill_files f on f.skill_id = s.id
    where s.id = ${skill.id} and s.enabled and s.fingerprint = ${skill.fingerprint}
      and (${path ?? null}::text is null or f.path = ${path ?? null}) order by f.path`.execute(db);
  return rows;
}

/** Undefined when the skill was changed, switched off or removed since. */
export async function readTurnSkill(
  db: Queryable,
  userId: string,
  skill: TurnSkill,
): Promise<{ body: string; files: { path: string; content: Buffer }[] } | undefined> {
  const files = await readContents(db, userId, skill, undefined);
  const main = files.find(({ path }) => path === skillFileName);
  return main === undefined ? undefined : { body: bodyOf(main.content.toString()), files };
}

/** The text of one file; undefined for what is none, or no longer there. */
export async function readTurnSkillFile(
  db: Queryable,
  userId: string,
  skill: TurnSkill,
  path: string,
): Promise<string | undefined> {
  const [file] = await readContents(db, userId, skill, path);
  return file && textOf(file.content);
}

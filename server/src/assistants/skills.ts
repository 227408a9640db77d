import type { WorkspaceNotes } from '@homeport/contracts/workspace/daemon';
import { CORE_SCHEMA, load } from 'js-yaml';
import { z } from 'zod';

/**
 * Skills as the agentskills specification has them: a folder `<name>/SKILL.md`, front matter in YAML, then Markdown.
 */
export type Skill = { name: string; description: string; path: string };

const frontMatter = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const notified = z.object({
  name: z
    .string()
    .max(64)
    .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
  description: z.string().trim().min(1).max(1024),
});
const skillsMax = 100;
const frontMatterMax = 16 * 1024;

/** The valid ones of a workspace, each name once: the first place counts, nearest folders first. */
export function readSkills(notes: WorkspaceNotes, folder: string): Skill[] {
  const skills = new Map<string, Skill>();
  const placed = notes.skills.map(({ path, head }) => ({ path, head, owner: ownerOf(path) }));
  const inReach = placed.filter(({ owner }) => owner === '~' || `${folder}/`.startsWith(`${owner}/`));
  for (const { path, head } of inReach.sort((a, b) => b.owner.length - a.owner.length)) {
    const skill = parseSkill(path, head);
    if (skill !== undefined && !skills.has(skill.name) && skills.size < skillsMax) skills.set(skill.name, skill);
  }
  return [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Undefined for what the specification does not allow. */
function parseSkill(path: string, head: string): Skill | undefined {
  const parsed = frontMatterOf(head);
  return parsed === undefined || path.split('/').at(-2) !== parsed.name ? undefined : { ...parsed, path };
}

/** Parses the front matter of a SKILL.md; undefined if it violates the specification. */
export function frontMatterOf(text: string): { name: string; description: string } | undefined {
  const [, yaml] = frontMatter.exec(text) ?? [];
  if (yaml === undefined || yaml.length > frontMatterMax) return undefined;
  try {
    return notified.safeParse(load(yaml, { schema: CORE_SCHEMA, maxDepth: 16 })).data;
  } catch {
    return undefined;
  }
}

/** The Markdown after the front matter. */
export function bodyOf(text: string): string {
  return text.replace(frontMatter, '').trim();
}

/** The folder whose skills these are. */
function ownerOf(path: string): string {
  return path.replace(/\/(?:\.agents\/)?skills\/[^/]+\/SKILL\.md$/, '');
}

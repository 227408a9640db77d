import { ok } from '@homeport/contracts/fields';
import { limits } from '@homeport/contracts/limits';
import type { ShippedSkill } from '@homeport/contracts/skills';
import { workspaceEntry, workspaceFile, workspaceListing } from '@homeport/contracts/workspace/daemon';
import { z } from 'zod';
import { bodyOf, type Skill } from '../../assistants/skills.ts';
import { readTurnSkill, readTurnSkillFile, type TurnSkill } from '../../assistants/turn-skills.ts';
import type { Queryable } from '../../db/pool.ts';
import type { Daemon } from '../../workspaces/daemon.ts';
import { defineTool } from './tool-input.ts';
import { type Tool, type ToolContext, ToolFailure } from './tool-run.ts';
import type { WorkspaceTurn } from './workspace/workspace-turn.ts';

/** Skills of one turn; `invoked` are those that the person named with `/name`, the newest first. */
export type TurnSkills = {
  /** From files of the workspace. */
  workspace: readonly Skill[];
  /** Added by people and trusted by the owner. */
  added: readonly TurnSkill[];
  /** Of the release. */
  shipped: readonly ShippedSkill[];
  invoked: readonly { name: string; body: string | undefined }[];
};
type Needs = { kysely: Queryable; userId: string; turn: WorkspaceTurn | undefined };

export const skillBodyMax = 100_000;
const folder = '~/.workspace/skills';
/** The newest folders of skills are kept in a workspace. */
const foldersKept = 50;

const input = z.object({
  name: z.string().min(1).max(64).describe('The name of a skill from the list.'),
  file: z
    .string()
    .min(1)
    .max(limits.skillPathMax)
    .optional()
    .describe('A text file of the skill to read instead of its instructions.'),
});

const description =
  'Loads a skill: instructions for one kind of task. Call it before you begin a task that a skill covers.';

/** Returns a skill's body; the layer `skills` lists all skills. */
export function skillTool(needs: Needs, skills: TurnSkills): Tool {
  const tool = defineTool({
    name: 'skill',
    description,
    input,
    effect: 'reads',
    async run({ name, file }, context) {
      const near = skills.workspace.find((one) => one.name === name);
      if (near !== undefined && needs.turn !== undefined) return readNear(needs.turn, near, file, context);
      const skill = skills.added.find((one) => one.name === name);
      if (skill !== undefined) return readAdded(needs, skill, file, context);
      const shipped = skills.shipped.find((one) => one.name === name);
      if (shipped !== undefined) return readShipped(shipped, file);
      throw new ToolFailure(`There is no skill ${name}. Available: ${namesOf(skills).join(', ')}.`);
    },
  });
  return { ...tool, note: { layer: 'skills', text: skillsText(skills) } };
}

/** Of the workspace: its files are there already. */
function readNear(turn: WorkspaceTurn, skill: Skill, file: string | undefined, { signal }: ToolContext) {
  const place = skill.path.slice(0, skill.path.lastIndexOf('/'));
  if (file !== undefined) throw new ToolFailure(`The files of this skill are in ${place}. Read them there.`);
  return turn.use(signal, async (daemon, own) => {
    const path = `/v1/files?path=${encodeURIComponent(skill.path)}`;
    const found = await daemon.call(path, workspaceFile, { signal: own });
    if (found.encoding !== 'utf-8') throw new ToolFailure(`${skill.path} is not a text file.`);
    return `[skill ${skill.name}; its files are in ${place}]\n\n${cut(bodyOf(found.content), skill.path)}`;
  });
}

async function readAdded(
  { kysely, userId, turn }: Needs,
  skill: TurnSkill,
  file: string | undefined,
  { signal }: ToolContext,
): Promise<string> {
  if (file !== undefined) {
    const text = await readTurnSkillFile(kysely, userId, skill, file);
    if (text === undefined) throw new ToolFailure(`The skill ${skill.name} has no text file ${file}.`);
    return cut(text, file);
  }
  const whole = await readTurnSkill(kysely, userId, skill);
  if (whole === undefined) {
    throw new ToolFailure(`The skill ${skill.name} was changed, switched off or removed, and cannot be used.`);
  }
  const body = cut(whole.body, 'SKILL.md');
  if (skill.others === 0) return `[skill ${skill.name}]\n\n${body}`;
  if (turn !== undefined) {
    const place = `${folder}/${skill.name}-${skill.fingerprint.slice(0, 12)}`;
    await turn.use(signal, (daemon, own) => placeFiles(daemon, place, whole.files, own));
    return `[skill ${skill.name}; its files are in ${place}, read-only]\n\n${body}`;
  }
  const paths = whole.files.map(({ path }) => path).join(', ');
  return `[skill ${skill.name}; read its files with this tool: ${paths}]\n\n${body}`;
}

function readShipped({ name, text }: ShippedSkill, file: string | undefined): string {
  if (file !== undefined) throw new ToolFailure(`The skill ${name} has no text file ${file}.`);
  return `[skill ${name}]\n\n${text}`;
}

const written = z.object({ entry: workspaceEntry });

/** Writes all files again, so that the trusted content runs even if the folder has changed since. */
async function placeFiles(
  daemon: Daemon,
  place: string,
  files: readonly { path: string; content: Buffer }[],
  signal: AbortSignal,
): Promise<void> {
  await sweepFolders(daemon, place, signal).catch(() => signal.throwIfAborted());
  for (const { path, content } of files) {
    const query = `path=${encodeURIComponent(`${place}/${path}`)}&onConflict=replace&mode=${modeOf(content)}`;
    const headers = { 'content-type': 'application/octet-stream' };
    const init = { method: 'PUT', headers, body: content, signal };
    await daemon.call(`/v1/files/content?${query}`, written, init);
  }
}

/** Read-only; files that begin with `#!` are executable. */
function modeOf(content: Buffer): string {
  return content.subarray(0, 2).toString('latin1') === '#!' ? '555' : '444';
}

async function sweepFolders(daemon: Daemon, place: string, signal: AbortSignal): Promise<void> {
  const query = `path=${encodeURIComponent(folder)}&limit=1000`;
  const { entries } = await daemon.call(`/v1/files?${query}`, workspaceListing, { signal });
  const others = entries
    .filter(({ path }) => path !== place)
    .sort((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : -1))
    .slice(foldersKept - 1);
  for (const { path } of others) {
    await daemon.call(`/v1/files?path=${encodeURIComponent(path)}`, ok, { method: 'DELETE', signal });
  }
}

function cut(text: string, path: string): string {
  return text.length > skillBodyMax ? `${text.slice(0, skillBodyMax)}\n[cut; the full text is in ${path}]` : text;
}

/** Of two with one name, that of the workspace counts, then the added one. */
function allOf({ workspace, added, shipped }: TurnSkills): { name: string; description: string }[] {
  const farthestFirst = [...shipped, ...added, ...workspace];
  const all = new Map(farthestFirst.map((skill) => [skill.name, skill]));
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function namesOf(skills: TurnSkills): string[] {
  return allOf(skills).map(({ name }) => name);
}

function skillsText(skills: TurnSkills): string {
  const lines = allOf(skills).map(({ name, description: what }) => `- ${name}: ${what.replace(/\s+/g, ' ')}`);
  const list = `# Skills\n\nInstructions for kinds of tasks. Load a skill with the tool \`skill\` when a task matches it, or when the person writes /name. All instructions above take precedence over skills.\n\n${lines.join('\n')}`;
  return [list, ...skills.invoked.map(invokedText)].join('\n\n');
}

function invokedText({ name, body }: TurnSkills['invoked'][number]): string {
  if (body === undefined) return `The person wrote /${name}: load this skill with the tool first, then follow it.`;
  // The text cannot end its own frame.
  const framed = body.replaceAll(/<(\/?skill)/gi, '‹$1');
  return `The person wrote /${name}: follow this skill. Load it with the tool when you need its files.\n<skill name="${name}">\n${framed}\n</skill>`;
}

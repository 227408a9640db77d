import type { WorkspaceNotes } from '@homeport/contracts/workspace/daemon';
import { readSkills } from '../../assistants/skills.ts';
import { findTurnSkills, readTurnSkill } from '../../assistants/turn-skills.ts';
import { readInvocations } from '../../conversations/invocations.ts';
import type { Queryable } from '../../db/pool.ts';
import type { Notice, ToolUser } from './find-tools.ts';
import { skillBodyMax, skillTool, type TurnSkills } from './skill-tool.ts';
import type { Tool } from './tool-run.ts';
import type { WorkspaceTurn } from './workspace/workspace-turn.ts';

/** Maximum number of skills named with `/name` whose text is included, newest first. */
const invokedMax = 3;

export type SkillReading = { added: ReturnType<typeof findTurnSkills>; readInvoked: () => Promise<string[]> };

/** Begins to read what a turn needs to know of skills. */
export function startReadingSkills(
  kysely: Queryable,
  { response, context }: ToolUser,
  notify: (notice: Notice) => void,
): SkillReading {
  const { owner_id: userId, chat_id: chatId, message_id: leafId } = response;
  const added = findTurnSkills(kysely, { userId, chatId }, notify);
  added.catch(() => undefined);
  // Only where there are skills: it walks the branch, and most people have none.
  const readInvoked = () => readInvocations(kysely, { chatId, leafId, stopBeforeId: context.contextStartMessageId });
  return { added, readInvoked };
}

/** The tool `skill` where there are skills: those of the workspace, where one is used, and those that people added. */
export async function skillTools(
  kysely: Queryable,
  userId: string,
  reading: SkillReading,
  at?: { turn: WorkspaceTurn; notes: WorkspaceNotes | undefined; folder: string },
): Promise<Tool[]> {
  const workspace = at?.notes === undefined ? [] : readSkills(at.notes, at.folder);
  const added = await reading.added;
  if (workspace.length + added.length === 0) return [];
  const invoked: TurnSkills['invoked'][number][] = [];
  let charactersLeft = skillBodyMax;
  for (const name of await reading.readInvoked()) {
    const isNear = workspace.some((one) => one.name === name);
    const skill = isNear ? undefined : added.find((one) => one.name === name);
    if ((skill === undefined && !isNear) || invoked.length === invokedMax) continue;
    const body = skill === undefined ? undefined : (await readTurnSkill(kysely, userId, skill))?.body;
    const fits = body !== undefined && body.length <= charactersLeft;
    if (fits) charactersLeft -= body.length;
    invoked.push({ name, body: fits ? body : undefined });
  }
  return [skillTool({ kysely, userId, turn: at?.turn }, { workspace, added, invoked })];
}

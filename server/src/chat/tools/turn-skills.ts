import type { WorkspaceNotes } from '@homeport/contracts/workspace/daemon';
import { findShippedSkills } from '../../assistants/shipped-skills.ts';
import { readSkills } from '../../assistants/skills.ts';
import { findTurnSkills, readTurnSkill } from '../../assistants/turn-skills.ts';
import { readInvocations } from '../../conversations/invocations.ts';
import type { Queryable } from '../../db/pool.ts';
import type { Notice, ToolUser } from './find-tools.ts';
import { reportTool } from './report-tool.ts';
import { skillBodyMax, skillTool, type TurnSkills } from './skill-tool.ts';
import type { FileStoreDeps } from './stored-file.ts';
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

type Place = { turn: WorkspaceTurn; notes: WorkspaceNotes | undefined; folder: string };

/**
 * The tool `skill` where there are skills: those of the workspace, where one is used, those that people added, and those
 * of the release. With the skill `research` comes the tool that writes its report.
 */
export async function skillTools(
  deps: FileStoreDeps,
  { response }: ToolUser,
  reading: SkillReading,
  { hasWeb, at }: { hasWeb: boolean; at?: Place },
): Promise<Tool[]> {
  const { kysely } = deps.db;
  const { owner_id: userId } = response;
  const workspace = at?.notes === undefined ? [] : readSkills(at.notes, at.folder);
  const [added, shipped] = await Promise.all([reading.added, findShippedSkills(kysely, userId, { hasWeb })]);
  if (workspace.length + added.length + shipped.length === 0) return [];
  const bodyFor = async (name: string): Promise<string | undefined> => {
    const skill = added.find((one) => one.name === name);
    if (skill !== undefined) return (await readTurnSkill(kysely, userId, skill))?.body;
    return shipped.find((one) => one.name === name)?.text;
  };
  const isKnown = (name: string) => [...workspace, ...added, ...shipped].some((one) => one.name === name);
  const invoked: TurnSkills['invoked'][number][] = [];
  let charactersLeft = skillBodyMax;
  for (const name of (await reading.readInvoked()).filter(isKnown).slice(0, invokedMax)) {
    const isNear = workspace.some((one) => one.name === name);
    const body = isNear ? undefined : await bodyFor(name);
    const fits = body !== undefined && body.length <= charactersLeft;
    if (fits) charactersLeft -= body.length;
    invoked.push({ name, body: fits ? body : undefined });
  }
  const tool = skillTool({ kysely, userId, turn: at?.turn }, { workspace, added, shipped, invoked });
  return shipped.length === 0 ? [tool] : [tool, reportTool(deps, response)];
}

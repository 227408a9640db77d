import { readNameAndEmail } from '../../../accounts/users.ts';
import type { Pictures } from '../../../artifacts/pictures/pictures.ts';
import type { Clock } from '../../../platform/clock.ts';
import { unlessAborted } from '../../../platform/waits.ts';
import { fetchNotes, readFolder, readNotes, recordFolder } from '../../../workspaces/notes.ts';
import { previewDomain } from '../../../workspaces/previews/preview-address.ts';
import type { Workspaces } from '../../../workspaces/workspaces.ts';
import type { FindTools } from '../find-tools.ts';
import { keepLongResults } from '../long-results.ts';
import { skillTools, startReadingSkills } from '../turn-skills.ts';
import { bashTool } from './bash-tool.ts';
import { ChangesSweep } from './changes-sweep.ts';
import { fileTools } from './file-tools.ts';
import { previewTool } from './preview-tool.ts';
import { type PublishDeps, publishTool } from './publish-tool.ts';
import { workspaceFacts } from './workspace-facts.ts';
import { WorkspaceTurn } from './workspace-turn.ts';

type WorkspaceToolDeps = PublishDeps & { workspaces: Workspaces; clock: Clock; pictures: Pictures };

/**
 * The tools of the owner's workspace (contract.md section 6), then those that `findOthers` finds, whose long results
 * are kept in it, and those that `findWeb` finds; without the first, but with skills, when workspaces are off. The
 * workspace starts when they are asked for; only a call waits for it. It is held until the signal aborts.
 */
export function createWorkspaceToolFinder(
  deps: WorkspaceToolDeps,
  { findOthers, findWeb }: { findOthers: FindTools; findWeb: FindTools },
): FindTools {
  const changes = new ChangesSweep(deps);
  return async (asked, signal, notify) => {
    const { response, withoutWorkspace } = asked;
    const finding = unlessAborted(findOthers(asked, signal, notify), signal);
    finding.catch(() => undefined);
    const searching = unlessAborted(findWeb(asked, signal, notify), signal);
    searching.catch(() => undefined);
    const { owner_id: userId, chat_id: chatId } = response;
    const { kysely } = deps.db;
    const skills = startReadingSkills(kysely, asked, notify);
    if (deps.workspaces.mode === 'disabled' || withoutWorkspace === true) {
      const web = await searching;
      const tools = await unlessAborted(skillTools(deps, asked, skills, { hasWeb: web.length > 0 }), signal);
      return [...tools, ...(await finding), ...web];
    }
    const [{ isRunning, notes }, folder] = await Promise.all([
      readNotes(deps, userId, signal),
      readFolder(kysely, chatId),
    ]);
    let workedIn = folder;
    const turn = new WorkspaceTurn(deps.workspaces, { userId, isRunning }, signal, {
      onHeld({ daemon, signal: held }) {
        // The next turn may find the workspace stopped.
        if (notes === undefined) fetchNotes(kysely, userId, daemon, held).catch(() => undefined);
        changes.sweep(userId, daemon, held).catch((error) => {
          deps.log.debug({ cause: error }, 'failed to clean up the recorded file changes of earlier answers');
        });
      },
      onFolder(next) {
        if (next === workedIn) return;
        workedIn = next;
        recordFolder(kysely, chatId, next).catch((error) => {
          deps.log.debug({ cause: error }, 'failed to store the working folder of a conversation');
        });
      },
    });
    const hasNetwork = deps.config.workspaceEgress === 'proxy';
    const note = {
      layer: 'moment',
      text: workspaceFacts(notes, { folder, hasNetwork, hasModels: deps.config.workspaceModels }),
    } as const;
    const owner = { userId, chatId };
    const readAuthor = () => readNameAndEmail(kysely, userId);
    const web = await searching;
    const command = { responseId: response.id, chatId, signal, readAuthor };
    return [
      { ...bashTool(turn, command), note },
      ...fileTools(turn, { responseId: response.id, chatId, userId, pictures: deps.pictures }),
      publishTool(deps, turn, owner),
      ...(previewDomain(deps.config) === undefined ? [] : [previewTool(turn, deps.clock)]),
      ...(await skillTools(deps, asked, skills, { hasWeb: web.length > 0, at: { turn, notes, folder } })),
      ...keepLongResults(await finding, turn, response.id),
      ...web,
    ];
  };
}

/** Joins the tools of several finders, in their order. The signal ends all waiting. */
export function joinTools(...finders: FindTools[]): FindTools {
  return async (turn, signal, notify) => {
    const finding = Promise.all(finders.map((find) => find(turn, signal, notify)));
    return (await unlessAborted(finding, signal)).flat();
  };
}

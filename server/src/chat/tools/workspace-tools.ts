import type { Clock } from '../../clock.ts';
import type { Workspaces } from '../../workspaces/workspaces.ts';
import { bashTool } from './bash-tool.ts';
import { ChangesSweep } from './changes-sweep.ts';
import { fileTools } from './file-tools.ts';
import type { FindTools } from './find-tools.ts';
import { type PublishDeps, publishTool } from './publish-tool.ts';
import { WorkspaceTurn } from './workspace-turn.ts';

type WorkspaceToolDeps = PublishDeps & { workspaces: Workspaces; clock: Clock };

/**
 * The tools of the owner's workspace (contract.md section 6), none when workspaces are off. The workspace starts when
 * they are asked for; only a call waits for it. It is held until the signal aborts.
 */
export function createWorkspaceToolFinder(deps: WorkspaceToolDeps): FindTools {
  const changes = new ChangesSweep(deps);
  return async ({ response, withoutWorkspace }, signal) => {
    if (deps.workspaces.mode === 'disabled' || withoutWorkspace === true) return [];
    const turn = new WorkspaceTurn(deps.workspaces, response.owner_id, signal, (hold) => {
      changes.sweep(response.owner_id, hold.daemon, hold.signal).catch((error) => {
        deps.log.debug({ cause: error }, 'the changes of earlier answers could not be looked through');
      });
    });
    const owner = { userId: response.owner_id, chatId: response.chat_id };
    const command = { responseId: response.id, chatId: response.chat_id };
    return [bashTool(turn, command), ...fileTools(turn, response.id), publishTool(deps, turn, owner)];
  };
}

/** The tools of several finders, in their order. */
export function joinTools(...finders: FindTools[]): FindTools {
  return async (turn, signal, notify) => (await Promise.all(finders.map((find) => find(turn, signal, notify)))).flat();
}

import type { TurnContext } from '../../conversations/chats.ts';
import type { Tool } from './tool-run.ts';

/** A notice to the person within the answer. */
export type Notice = { code: string; message: string; serverId?: string };

/** The response that tools are looked for. */
export type ToolUser = {
  response: {
    id: string;
    generation: number;
    chat_id: string;
    owner_id: string;
    /** The newest message of the branch that is answered. */
    message_id: string;
    decision: { mcpServerIds?: string[] | null };
  };
  context: TurnContext;
  /** True when calls that somebody allowed wait for these tools: what can be reached is then waited for. */
  isAwaited?: boolean;
  /** True when the tools of the workspace are left out. */
  withoutWorkspace?: boolean;
};

/**
 * Finds the tools of a response; `notify` tells the person what is left out, then or while the tools are used. The
 * signal aborts when the response is cut or has been made: tools let go then what they hold.
 */
export type FindTools = (turn: ToolUser, signal: AbortSignal, notify: (notice: Notice) => void) => Promise<Tool[]>;

import type { NoticeData } from '@homeport/contracts/chat/frames';
import type { TurnContext } from '../../conversations/chats.ts';
import type { Tool } from './tool-run.ts';

/** A notice to the person within the answer. */
export type Notice = NoticeData;

/** The response that tools are looked for. */
export type ToolUser = {
  response: {
    id: string;
    generation: number;
    chat_id: string;
    owner_id: string;
    /** The newest message of the branch that is answered. */
    message_id: string;
    decision: { mcpServerIds?: string[] | null; web?: boolean | null };
  };
  context: TurnContext;
  /** True when approved calls wait for these tools: the finder then waits for reachable servers. */
  isAwaited?: boolean;
  /** True when the tools of the workspace are left out. */
  withoutWorkspace?: boolean;
};

/**
 * Finds the tools of a response; `notify` reports omitted tools to the person, at once or while tools are used. The
 * signal aborts when the response is cut or complete: tools then release their resources.
 */
export type FindTools = (turn: ToolUser, signal: AbortSignal, notify: (notice: Notice) => void) => Promise<Tool[]>;

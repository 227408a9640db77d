import { limits } from '@homeport/contracts/limits';
import type { ToolChoice } from '../model/demands.ts';
import type { ToolDefinition } from '../model/protocol.ts';
import type { GatewayMessage } from './gateway-request.ts';
import { invalidMember } from './gateway-request.ts';

/** Rules that hold in all front protocols. */

const schemaCharactersMax = 256 * 1024;

/** Every result follows its call, once. `pathOf` gives the place of a message in the request. */
export function assertResults(messages: readonly GatewayMessage[], pathOf: (index: number) => string): void {
  const open = new Set<string>();
  const closed = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') {
      for (const { id } of message.tool_calls ?? []) {
        if (open.has(id)) throw invalidMember(pathOf(index), 'Two calls have the same id');
        closed.delete(id);
        open.add(id);
      }
    } else if (message.role === 'tool') {
      const { tool_call_id: id } = message;
      if (closed.has(id)) throw invalidMember(pathOf(index), 'This call has a result already');
      if (!open.delete(id)) throw invalidMember(pathOf(index), 'A result needs the call that it answers before it');
      closed.add(id);
    }
  }
}

/** Every tool that a choice allows is offered. */
export function assertAllowed(allowed: ReadonlySet<string> | undefined, offered: readonly string[]): void {
  if (allowed === undefined || [...allowed].every((name) => offered.includes(name))) return;
  throw invalidMember('tool_choice', 'No tool of the request has this name');
}

/** Names are unique, and schemas have a bounded size. */
export function assertTools(
  tools: readonly ToolDefinition[],
  choice: ToolChoice | undefined,
  path: { tools: string; choice: string },
): void {
  const names = new Set<string>();
  for (const [index, { name, inputSchema }] of tools.entries()) {
    if (names.has(name)) throw invalidMember(`${path.tools}.${index}`, 'Two tools have the same name');
    names.add(name);
    if (JSON.stringify(inputSchema).length > schemaCharactersMax) {
      throw invalidMember(`${path.tools}.${index}`, `A schema has at most ${schemaCharactersMax} characters`);
    }
  }
  if (tools.length > limits.programToolsMax) {
    throw invalidMember(path.tools, `At most ${limits.programToolsMax} tools`);
  }
  if (typeof choice === 'object' && !names.has(choice.name)) {
    throw invalidMember(path.choice, 'No tool of the request has this name');
  }
  if (choice === 'required' && tools.length === 0) throw invalidMember(path.choice, 'The request has no tools');
}

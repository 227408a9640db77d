import type { OwnToolRules, ToolRule, ToolRules } from '@homeport/contracts/chat/tool-rules';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import { type AuditSource, recordEvent } from '../../../audit/audit.ts';
import { recordChatChange, writeChatRules } from '../../../conversations/chat-changes.ts';
import { type Database, inTransaction, type Queryable } from '../../../db/pool.ts';
import type { Platform } from '../../../platform.ts';
import type { FindTools } from '../find-tools.ts';
import type { Tool } from '../tool-run.ts';
import { inForce, judgeCall, judgeCommand, type RulesInForce, type Verdict } from './rule-judge.ts';
import { patternOf } from './rule-pattern.ts';

/** Rules that a person set for tools, for all conversations (`tool_rules`) and for one (`chats.tool_rules`). */

const defaultRules: OwnToolRules = { preset: 'auto', rules: [], programModels: true };

export async function readRules(db: Queryable, userId: string): Promise<OwnToolRules> {
  const row = await db.selectFrom('tool_rules').select('rules').where('user_id', '=', userId).executeTakeFirst();
  return { ...defaultRules, ...row?.rules };
}

/** Replaces a person's rules; returns them. */
export async function changeRules(
  deps: Pick<Platform, 'db'>,
  userId: string,
  given: ToolRules & { programModels?: boolean },
  by: AuditSource,
): Promise<OwnToolRules> {
  return inTransaction(deps.db, async (trx) => {
    await sql`select from users where id = ${userId} for no key update`.execute(trx);
    const { programModels = (await readRules(trx, userId)).programModels } = given;
    const rules = { preset: given.preset, rules: given.rules, programModels };
    await replaceRules(trx, userId, rules);
    await recordRules(trx, by, userId, { preset: rules.preset, rules: rules.rules.length, programModels });
    return rules;
  });
}

/** Patterns are left out: a command may have a secret in it. */
async function recordRules(
  trx: Queryable,
  by: AuditSource,
  userId: string,
  details: Record<string, string | number | boolean>,
): Promise<void> {
  await recordEvent(trx, by, { action: 'tool_rules.updated', targetType: 'user', targetId: userId, details });
}

async function replaceRules(db: Queryable, userId: string, rules: OwnToolRules): Promise<void> {
  const values = { user_id: userId, rules: JSON.stringify(rules) };
  await db
    .insertInto('tool_rules')
    .values(values)
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ rules: values.rules }))
    .execute();
}

async function readInForce(db: Queryable, chatId: string, userId: string): Promise<RulesInForce> {
  const { rows } = await sql<{ person: ToolRules | null; conversation: Partial<ToolRules> | null }>`
    select (select rules from tool_rules where user_id = ${userId}) as person,
      (select tool_rules from chats where id = ${chatId}) as conversation`.execute(db);
  return inForce(rows[0]?.person ?? defaultRules, rows[0]?.conversation ?? null);
}

/**
 * The rule that an approval may leave behind: for the shell, of this very command. Undefined where that is too long,
 * and for a call of the shell that runs no command.
 */
export function ruleOf(toolName: string, input: Record<string, unknown>): ToolRule | undefined {
  if (toolName !== 'bash') return { tool: toolName, policy: 'allow' };
  const { command, processId } = input;
  if (typeof command !== 'string' || typeof processId === 'string') return undefined;
  const pattern = patternOf(command);
  if (pattern === '' || pattern.length > limits.toolPatternMax) return undefined;
  return { tool: toolName, pattern, policy: 'allow' };
}

/** Keeps that this may run without asking, in a conversation (which the caller has locked) or everywhere. */
export async function rememberRule(
  trx: Queryable,
  where: { chatId: string } | { userId: string },
  rule: ToolRule,
  by: AuditSource,
): Promise<void> {
  if ('chatId' in where) {
    const { chatId } = where;
    const chat = await trx.selectFrom('chats').select('tool_rules').where('id', '=', chatId).executeTakeFirst();
    const known = chat?.tool_rules ?? {};
    await writeChatRules(trx, chatId, { ...known, rules: withRule(known.rules ?? [], rule) });
    await recordChatChange(trx, by, chatId, ['toolRules']);
    return;
  }
  const { userId } = where;
  await sql`select from users where id = ${userId} for no key update`.execute(trx);
  const known = await readRules(trx, userId);
  await replaceRules(trx, userId, { ...known, rules: withRule(known.rules, rule) });
  await recordRules(trx, by, userId, { tool: rule.tool, policy: rule.policy });
}

/** The new rule comes first; where there is no room, the oldest of those that allow something goes, never another. */
function withRule(rules: readonly ToolRule[], rule: ToolRule): ToolRule[] {
  const isSame = (other: ToolRule): boolean => other.tool === rule.tool && other.pattern === rule.pattern;
  const kept = [rule, ...rules.filter((other) => !isSame(other))];
  while (kept.length > limits.toolRulesMax || textOf(kept) > limits.toolRulesTextMax) {
    const oldest = kept.findLastIndex(({ policy }, index) => index > 0 && policy === 'allow');
    if (oldest === -1) throw new ApiError('invalid_request', 'There is no room for another rule. Remove one first.');
    kept.splice(oldest, 1);
  }
  return kept;
}

function textOf(rules: readonly ToolRule[]): number {
  return rules.reduce((sum, { tool, pattern = '' }) => sum + tool.length + pattern.length, 0);
}

type RuleDeps = { db: Pick<Database, 'kysely'> };

/** Tools whose calls are judged by the rules in force at that moment. */
export function ruled(deps: RuleDeps, find: FindTools): FindTools {
  return async (turn, signal, notify) => {
    const tools = await find(turn, signal, notify);
    return tools.map((tool) => ruledTool(deps, turn.response, tool));
  };
}

export function ruledTool(
  deps: RuleDeps,
  { chat_id: chatId, owner_id: userId }: { chat_id: string; owner_id: string },
  tool: Tool,
): Tool {
  return {
    ...tool,
    judge: async (input) => judgeTool(await readInForce(deps.db.kysely, chatId, userId), tool, input),
  };
}

/**
 * Decides one call. An unapproved command requires a question if it cannot be kept from writing, or if the model
 * requests one.
 */
export async function judgeTool(
  rules: RulesInForce,
  tool: Pick<Tool, 'name' | 'effect' | 'readPolicy' | 'canReadOnly'>,
  input: Record<string, unknown>,
): Promise<Verdict> {
  const { command, processId } = input;
  const { name, effect } = tool;
  if (effect === 'command' && typeof command === 'string' && typeof processId !== 'string') {
    const verdict = judgeCommand(rules, command);
    if (verdict.readOnly === undefined || verdict.policy !== 'allow') return verdict;
    const isWanted = input.askFirst === true && verdict.readOnly.canAsk;
    return isWanted || (await tool.canReadOnly?.()) !== true ? { policy: 'ask' } : verdict;
  }
  return judgeCall(rules, { name, effect: effect === 'command' ? 'reads' : effect, own: await tool.readPolicy?.() });
}

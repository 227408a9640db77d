import type { ToolPreset, ToolRule, ToolRules } from '@homeport/contracts/chat/tool-rules';
import type { ToolPolicy } from '@homeport/contracts/mcp/mcp';
import { type CommandPart, readCommand } from './command-parts.ts';
import { type CommandVariant, variantsOf } from './command-variants.ts';
import { isInert, onlyReads } from './read-only-commands.ts';
import { canMatch, certainlyMatches, isVery, readPattern } from './rule-pattern.ts';

/**
 * Applies rules to one call (docs/workspaces.md, "Rules"). A deny always holds. Otherwise rules of the conversation
 * come before the person's, the most specific first, and without a match the preset decides. A command counts as its
 * strictest part.
 */

/** Rules in force for one conversation. */
export type RulesInForce = { preset: ToolPreset; conversation: readonly ToolRule[]; person: readonly ToolRule[] };

/** Effect of a tool on the workspace, for the presets. */
export type ToolEffect = 'reads' | 'writes' | 'command';

/**
 * An unapproved command: it runs without write access and without connections. `canAsk`: the person can be asked for
 * more.
 */
export type ReadOnlyRun = { canAsk: boolean };

/** `why` is for the model. */
export type Verdict = { policy: ToolPolicy; why?: string; readOnly?: ReadOnlyRun };

const strictness: Record<ToolPolicy, number> = { allow: 0, ask: 1, deny: 2 };
/** Characters of all variants of one command that patterns are compared with. */
const variantsMax = 64 * 1024;
const shownMax = 200;
/** A pattern with one of these is for a command as it is written, because no part has them. */
const operators = /[|;&<>]/;

const readOnlyWhy =
  'The workspace is read-only now: do not write anything, and run only commands that can do nothing but read.';

/** The rules of a person and of a conversation as one. */
export function inForce(person: ToolRules, conversation: Partial<ToolRules> | null): RulesInForce {
  return {
    preset: conversation?.preset ?? person.preset,
    conversation: conversation?.rules ?? [],
    person: person.rules,
  };
}

/** Decides a call of a tool other than the shell. `own`: the policy of the tool's server, if it has one. */
export function judgeCall(
  rules: RulesInForce,
  tool: { name: string; effect?: ToolEffect; own?: ToolPolicy | undefined },
): Verdict {
  const found = bySpecificity(
    rules,
    (rule) => rule.tool === tool.name && isGeneral(rule),
    () => 0,
  );
  if (tool.own === 'deny') return { policy: 'deny' };
  if (found?.policy === 'deny') return denied(found);
  const preset = byPreset(rules.preset, tool.effect ?? 'reads');
  return preset === 'deny' ? readOnly : { policy: found?.policy ?? tool.own ?? preset };
}

const readOnly: Verdict = { policy: 'deny', why: readOnlyWhy };

function byPreset(preset: ToolPreset, effect: ToolEffect): ToolPolicy {
  if (preset === 'auto' || effect === 'reads') return 'allow';
  return preset === 'ask' ? 'ask' : 'deny';
}

/** A command for the shell. Costs its length times the number of rules, both bounded. */
export function judgeCommand(rules: RulesInForce, command: string): Verdict {
  const ofShell = (rule: ToolRule): boolean => rule.tool === 'bash';
  const [conversation, person] = [rules.conversation.filter(ofShell), rules.person.filter(ofShell)];
  const all = [...conversation, ...person];
  const { parts, isWhole } = readCommand(command);
  const sorted = sortVariants(parts);
  const asWritten = { text: command.trim().replace(/\s+/g, ' ').slice(0, variantsMax), isOpen: false };
  const meant = (rule: ToolRule, fits: (rule: ToolRule, variant: CommandVariant) => boolean): boolean =>
    sorted.parts.some(({ variants }) => variants.some((variant) => fits(rule, variant))) ||
    (operators.test(rule.pattern ?? '') && fits(rule, asWritten));
  const denial = all.find((rule) => rule.policy === 'deny' && (isGeneral(rule) || meant(rule, certainly)));
  if (denial !== undefined) return denied(denial);
  const isRead = isWhole && sorted.isWhole;
  if (rules.preset === 'read-only') {
    if (!isRead || !parts.every(onlyReads)) return readOnly;
  } else {
    const isKept = ({ policy, pattern }: ToolRule): boolean => policy === 'allow' && isVery(pattern, command);
    const isFree = isRead && !conversation.some((rule) => isGeneral(rule) || meant(rule, possibly));
    if (conversation.some(isKept)) return { policy: 'allow' };
    if ((isFree || conversation.length === 0) && person.some(isKept)) return { policy: 'allow' };
  }
  const ofPart = { preset: rules.preset, conversation, person };
  const judged = sorted.parts.map(({ part, variants }) => ({ part, ...judgePart(ofPart, part, variants) }));
  const policies = judged.map(({ policy }) => policy);
  if (all.some((rule) => rule.policy === 'ask' && operators.test(rule.pattern ?? '') && meant(rule, possibly))) {
    policies.push('ask');
  }
  if (!isRead) policies.push(ofUnread(ofPart));
  const policy = policies.reduce(stricter, 'allow');
  if (rules.preset === 'auto') return { policy };
  if (rules.preset === 'read-only') return { policy, readOnly: { canAsk: false } };
  return policy === 'allow' ? ofUnapproved(judged) : { policy };
}

/**
 * Decides a command that requires no question: rules allow some parts, and the others only seem to read. A command runs
 * as a whole, so the two are combined only if the others certainly can do nothing else.
 */
function ofUnapproved(judged: readonly { part: CommandPart; isApproved: boolean }[]): Verdict {
  if (!judged.some(({ isApproved }) => isApproved)) return { policy: 'allow', readOnly: { canAsk: true } };
  return { policy: judged.every(({ part, isApproved }) => isApproved || isInert(part)) ? 'allow' : 'ask' };
}

/** Treats an unparsed command as matching every ask or deny pattern. */
function ofUnread({ preset, conversation, person }: RulesInForce): ToolPolicy {
  const general = conversation.find(isGeneral) ?? person.find(isGeneral);
  const inForce = conversation.some(isGeneral) ? conversation : [...conversation, ...person];
  const isGuarded =
    person.some(({ policy }) => policy === 'deny') ||
    inForce.some((rule) => !isGeneral(rule) && rule.policy !== 'allow');
  return isGuarded ? 'ask' : (general?.policy ?? (preset === 'auto' ? 'allow' : 'ask'));
}

function isGeneral({ pattern }: ToolRule): boolean {
  return pattern === undefined;
}

function certainly({ pattern }: ToolRule, variant: CommandVariant): boolean {
  return pattern !== undefined && certainlyMatches(readPattern(pattern), variant);
}

function possibly({ pattern }: ToolRule, variant: CommandVariant): boolean {
  return pattern !== undefined && canMatch(readPattern(pattern), variant);
}

type SortedPart = { part: CommandPart; variants: CommandVariant[] };

function sortVariants(parts: readonly CommandPart[]): { parts: SortedPart[]; isWhole: boolean } {
  const sorted: SortedPart[] = [];
  const budget = { left: variantsMax };
  for (const part of parts) {
    const variants = variantsOf(part, budget);
    if (budget.left < 0) return { parts: sorted, isWhole: false };
    sorted.push({ part, variants });
  }
  return { parts: sorted, isWhole: true };
}

/** `isApproved`: a rule allows it, not the preset. */
function judgePart(
  rules: RulesInForce,
  part: CommandPart,
  [variant, ...others]: readonly CommandVariant[],
): { policy: ToolPolicy; isApproved: boolean } {
  const own = variant === undefined ? undefined : ofVariant(rules, part, variant);
  const inner = others.map((other) => ofVariant(rules, part, other) ?? 'allow');
  const policy = inner.reduce(stricter, own ?? presetOf(rules.preset, part));
  return { policy, isApproved: own === 'allow' };
}

function presetOf(preset: ToolPreset, part: CommandPart): ToolPolicy {
  if (preset === 'auto' || onlyReads(part)) return 'allow';
  return preset === 'ask' ? 'ask' : 'deny';
}

/** An allow rule covers the command alone: no variables in front of it, and no file behind it. */
function ofVariant(rules: RulesInForce, part: CommandPart, variant: CommandVariant): ToolPolicy | undefined {
  const isAlone = !part.assigns && !part.writes;
  const fits = (rule: ToolRule): boolean =>
    isGeneral(rule) || (rule.policy === 'allow' ? isAlone && certainly(rule, variant) : possibly(rule, variant));
  const weightOf = ({ pattern }: ToolRule): number => (pattern === undefined ? -1 : readPattern(pattern).weight);
  const policy = bySpecificity(rules, fits, weightOf)?.policy;
  // Certain denials are refused before.
  return policy === 'deny' ? 'ask' : policy;
}

/**
 * The rule that decides: any deny, else the heaviest of the conversation's, else of the person's; of equals the
 * strictest.
 */
function bySpecificity(
  { conversation, person }: RulesInForce,
  isFitting: (rule: ToolRule) => boolean,
  weightOf: (rule: ToolRule) => number,
): ToolRule | undefined {
  const levels = [conversation.filter(isFitting), person.filter(isFitting)];
  const denial = levels.flat().find(({ policy }) => policy === 'deny');
  if (denial !== undefined) return denial;
  const [nearest = []] = levels.filter((level) => level.length > 0);
  let best: ToolRule | undefined;
  for (const rule of nearest) {
    const lead =
      best === undefined ? 1 : weightOf(rule) - weightOf(best) || strictness[rule.policy] - strictness[best.policy];
    if (lead > 0) best = rule;
  }
  return best;
}

function stricter(a: ToolPolicy, b: ToolPolicy): ToolPolicy {
  return strictness[a] >= strictness[b] ? a : b;
}

function denied({ tool, pattern }: ToolRule): Verdict {
  const what = pattern === undefined ? tool : `${tool}: ${pattern.slice(0, shownMax)}`;
  return {
    policy: 'deny',
    why: `The owner's rules do not allow this (${what}). Do not try to work around this; tell the person.`,
  };
}

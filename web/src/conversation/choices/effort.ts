import type { Parameters } from '@homeport/contracts/chat/parameters';
import { choiceOf, withChoice } from './kept-choices.ts';

/** How long a model thinks before it answers: the person's choice of each conversation, kept in this browser. */
export type Effort = NonNullable<Parameters['reasoningEffort']>;

export const efforts: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The levels that a model takes, as far as that is known; else all. */
export function offeredEfforts(reasoning: readonly string[] | false | undefined): readonly Effort[] {
  const known = reasoning ? efforts.filter((effort) => reasoning.includes(effort)) : [];
  return known.length === 0 ? efforts : known;
}

/** The item's name among the drafts. */
export const effortsName = 'efforts';

/** The choice of a conversation; undefined leaves it to the conversation, the assistant and the model. */
export function effortOf(stored: string, chatId: string): Effort | undefined {
  return choiceOf(stored, chatId, isEffort);
}

/** `stored` with another choice of a conversation. */
export function withEffort(stored: string, chatId: string, effort: Effort | undefined): string {
  return withChoice(stored, chatId, effort);
}

function isEffort(value: unknown): value is Effort {
  return efforts.some((effort) => effort === value);
}

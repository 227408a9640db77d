import type { TurnBudget } from '@homeport/contracts/chat/turn-budget';
import { limits } from '@homeport/contracts/limits';

/** Values of the form for a turn's budget: numbers, or text that is no number yet. */
export type TurnBudgetValues = { [Name in keyof TurnBudget]: number | string };

const bounds = {
  steps: [1, limits.turnStepsMax],
  minutes: [1, limits.turnMinutesMax],
  tokens: [limits.turnTokensMin, limits.turnTokensMax],
} as const;

export function turnBudgetValues({ steps, minutes, tokens }: TurnBudget): TurnBudgetValues {
  return { steps, minutes, tokens: tokens ?? '' };
}

/**
 * Parses the entered budget; only tokens can be empty, which means no limit. Returns the bounds of the first invalid
 * field instead.
 */
export function readTurnBudget(values: TurnBudgetValues): {
  budget: TurnBudget;
  faults: Partial<Record<keyof TurnBudget, { min: number; max: number }>>;
} {
  const faults: Partial<Record<keyof TurnBudget, { min: number; max: number }>> = {};
  const read = (name: keyof TurnBudget): number => {
    const [min, max] = bounds[name];
    const number = values[name] === '' ? Number.NaN : Number(values[name]);
    if (!(Number.isInteger(number) && number >= min && number <= max)) faults[name] = { min, max };
    return number;
  };
  const tokens = values.tokens === '' ? null : read('tokens');
  return { budget: { steps: read('steps'), minutes: read('minutes'), tokens }, faults };
}

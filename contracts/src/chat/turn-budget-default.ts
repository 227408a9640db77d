import type { TurnBudget } from './turn-budget.ts';

/** Apart from its schema, so that the browser does not load that. */
export const defaultTurnBudget: TurnBudget = { steps: 200, minutes: 120, tokens: null };

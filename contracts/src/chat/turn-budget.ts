import { z } from 'zod';
import { limits } from '../limits.ts';

/** Limits of one turn, after which the person has to press "Continue"; set by administrators. */
export const turnBudget = z.object({
  /** Model calls. */
  steps: z.number().int().min(1).max(limits.turnStepsMax),
  /** Without the time that it waits for a person. */
  minutes: z.number().int().min(1).max(limits.turnMinutesMax),
  /** Input and output of all questions, those of delegates too; null: as many as it takes. */
  tokens: z.number().int().min(limits.turnTokensMin).max(limits.turnTokensMax).nullable(),
});
export type TurnBudget = z.infer<typeof turnBudget>;

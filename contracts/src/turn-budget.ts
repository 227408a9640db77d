import { z } from 'zod';
import { limits } from './limits.ts';

/** How much a model may do in one turn before a person says "Continue"; administrators set it. */
export const turnBudget = z.object({
  /** Questions to the model. */
  steps: z.number().int().min(1).max(limits.turnStepsMax),
  /** Without the time that it waits for a person. */
  minutes: z.number().int().min(1).max(limits.turnMinutesMax),
  /** Input and output of all questions, those of delegates too; null: as many as it takes. */
  tokens: z.number().int().min(limits.turnTokensMin).max(limits.turnTokensMax).nullable(),
});
export type TurnBudget = z.infer<typeof turnBudget>;

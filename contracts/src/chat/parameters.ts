import { z } from 'zod';
import { limits } from '../limits.ts';

/** Generation parameters of a model (contract.md section 11); unset ones are not sent. */
const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
const verbosities = ['low', 'medium', 'high'] as const;

/**
 * Temperature and top-p as providers define them; `maxOutputTokens` in tokens; `stop` lists texts that end the answer.
 */
export const parameters = z.object({
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  maxOutputTokens: z.number().int().min(1).max(limits.contextWindowMax).optional(),
  reasoningEffort: z.enum(reasoningEfforts).optional(),
  verbosity: z.enum(verbosities).optional(),
  stop: z.array(z.string().min(1).max(limits.stopTextMax)).max(limits.stopTextsMax).optional(),
  seed: z.number().int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER).optional(),
});
export type Parameters = z.infer<typeof parameters>;

/** When given, they replace all earlier ones; null clears them. */
export const givenParameters = parameters.nullable();

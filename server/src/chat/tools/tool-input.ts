import { z } from 'zod';
import type { ToolEffect } from './rules/rule-judge.ts';
import type { Tool, ToolContext } from './tool-run.ts';
import { ToolFailure } from './tool-run.ts';

type Definition<Input> = {
  name: string;
  description: string;
  input: z.ZodType<Input>;
  timeoutMs?: number;
  effect?: ToolEffect;
  canReadOnly?: () => Promise<boolean>;
  run(input: Input, context: ToolContext): Promise<unknown>;
};

/**
 * What models are given, by the schema that it was made of: those of our tools are constants, and each turn offers them
 * anew.
 */
const translated = new WeakMap<z.ZodType, Record<string, unknown>>();

/**
 * A tool of our own whose arguments are checked by the schema that the model is given; a wrong one is told in words.
 */
export function defineTool<Input>(definition: Definition<Input>): Tool {
  const { name, description, input, timeoutMs, effect, canReadOnly, run } = definition;
  return {
    name,
    description,
    inputSchema: translate(input),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(effect === undefined ? {} : { effect }),
    ...(canReadOnly === undefined ? {} : { canReadOnly }),
    async execute(given, context) {
      return run(readInput(input, given), context);
    },
  };
}

/** Throws ToolFailure for arguments that the schema does not allow. */
export function readInput<Input>(input: z.ZodType<Input>, given: Record<string, unknown>): Input {
  const parsed = input.safeParse(withoutNulls(given));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`);
  throw new ToolFailure(`The arguments are wrong. ${faults.slice(0, 5).join('; ')}`);
}

function translate(input: z.ZodType): Record<string, unknown> {
  const known = translated.get(input);
  if (known !== undefined) return known;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input' });
  translated.set(input, inputSchema);
  return inputSchema;
}

/** Many models say null for what they leave out. */
function withoutNulls(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

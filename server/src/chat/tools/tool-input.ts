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
 * JSON schemas for models, by the Zod schema they were made from: the schemas of our tools are constants, and every
 * turn uses them.
 */
const translated = new WeakMap<z.ZodType, Record<string, unknown>>();

/**
 * Defines a built-in tool whose arguments are validated by the schema that the model receives. Invalid arguments become
 * an error text.
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
  throw new ToolFailure(`The arguments are invalid. ${faults.slice(0, 5).join('; ')}`);
}

function translate(input: z.ZodType): Record<string, unknown> {
  const known = translated.get(input);
  if (known !== undefined) return known;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input' });
  translated.set(input, inputSchema);
  return inputSchema;
}

/** Many models send null for omitted arguments. */
function withoutNulls(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

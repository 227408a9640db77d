import type { FieldError } from '@homeport/contracts/errors';
import { z } from 'zod';

/** The part of a JSON Schema that matters for counting. */
type Shape = {
  maxItems?: number;
  maxProperties?: number;
  properties?: Record<string, Shape>;
  items?: Shape | boolean;
  additionalProperties?: Shape | boolean;
  anyOf?: Shape[];
};
type Fault = { path: string[]; message: string };

const shapes = new WeakMap<z.ZodType, Shape>();

/**
 * The first list or record with more members than its schema allows. Checked before the schema itself, which looks at
 * every member and creates an error for each.
 */
export function findTooManyMembers(schema: z.ZodType, value: unknown): FieldError | undefined {
  const shape = shapes.get(schema) ?? toShape(schema);
  shapes.set(schema, shape);
  const fault = findFault(shape, value);
  return fault === undefined ? undefined : { path: fault.path.join('.'), message: fault.message };
}

function toShape(schema: z.ZodType): Shape {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape;
}

function findFault(shape: Shape, value: unknown): Fault | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const branch of shape.anyOf ?? []) {
    const fault = findFault(branch, value);
    if (fault !== undefined) return fault;
  }
  if (!Array.isArray(value)) return findInNamed(shape, value) ?? findInRecord(shape, value);
  return findInMembers(value, shape.items, shape.maxItems);
}

function findInNamed({ properties = {} }: Shape, value: object): Fault | undefined {
  for (const [name, shape] of Object.entries(properties)) {
    const fault = below(name, findFault(shape, Reflect.get(value, name)));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Members with any name; only a record has a shape for them. */
function findInRecord({ additionalProperties, maxProperties }: Shape, value: object): Fault | undefined {
  return typeof additionalProperties === 'object'
    ? findInMembers(value, additionalProperties, maxProperties)
    : undefined;
}

function findInMembers(value: object, shape: Shape | boolean | undefined, max: number | undefined): Fault | undefined {
  const names = Object.keys(value);
  if (max !== undefined && names.length > max) return { path: [], message: `At most ${max} entries` };
  if (typeof shape !== 'object') return undefined;
  for (const name of names) {
    const fault = below(name, findFault(shape, Reflect.get(value, name)));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function below(name: string, fault: Fault | undefined): Fault | undefined {
  return fault === undefined ? undefined : { path: [name, ...fault.path], message: fault.message };
}

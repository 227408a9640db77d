import type { EndpointSpec } from '@homeport/contracts/endpoint';
import * as fields from '@homeport/contracts/fields';
import { z } from 'zod';

/**
 * Every place of a request that holds an id, found in its schemas: `query.id`, `body.message.id`,
 * `body.mcpServerIds.*`.
 */
export function idPlaces(spec: EndpointSpec): string[] {
  const places = new Set<string>();
  for (const part of ['params', 'query', 'body', 'form'] as const) {
    const schema = spec[part];
    if (schema !== undefined) collect(jsonSchema(schema), part, places);
  }
  return [...places].sort();
}

type JsonSchema = {
  type?: unknown;
  pattern?: unknown;
  minLength?: unknown;
  maxLength?: unknown;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
};

function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}

const idShapes = [fields.id, fields.clientId].map((schema) => shapeOf(jsonSchema(schema)));

function shapeOf({ type, pattern, minLength, maxLength }: JsonSchema): string {
  return JSON.stringify({ type, pattern, minLength, maxLength });
}

/** By the schema of ids, and by name, so that an id of another schema is seen too. */
function collect(schema: JsonSchema, place: string, places: Set<string>): void {
  if (schema.type === 'string' && (idShapes.includes(shapeOf(schema)) || /(?:^id|Id)$/.test(lastName(place)))) {
    places.add(place);
  }
  for (const branch of schema.anyOf ?? []) collect(branch, place, places);
  if (schema.items !== undefined) collect(schema.items, `${place}.*`, places);
  for (const [name, member] of Object.entries(schema.properties ?? {})) collect(member, `${place}.${name}`, places);
}

function lastName(place: string): string {
  return place.slice(place.lastIndexOf('.') + 1);
}

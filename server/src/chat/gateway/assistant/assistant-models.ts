import { findNamedAssistant, type NamedAssistant } from '../../../assistants/named-assistants.ts';
import type { Platform } from '../../../platform.ts';

/** Assistants as models of clients: `assistant/<name>`. */

const prefix = 'assistant/';

export function assistantModelName({ name }: NamedAssistant): string {
  return `${prefix}${name}`;
}

/** The assistant that a model's name means; undefined for another name, or an assistant that is not the person's. */
export async function findAssistantModel(
  { db }: Pick<Platform, 'db'>,
  userId: string,
  model: string,
): Promise<NamedAssistant | undefined> {
  if (!model.startsWith(prefix)) return undefined;
  return findNamedAssistant(db.kysely, userId, model.slice(prefix.length));
}

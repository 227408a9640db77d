import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import type { Queryable } from '../../../db/pool.ts';

/** SQL of `gateway_responses`: only this file reads and writes it. */

/** The place of a stored response: its conversation, and the message that is the answer. */
export type ResponsePlace = { chatId: string; messageId: string };
type Row = ResponsePlace & { response: string };

/** Throws `not_found` with the member of the request that names it. */
export async function getStoredResponse(
  db: Queryable,
  ownerId: string,
  id: string,
  path: string,
): Promise<ResponsePlace & { response: Record<string, unknown> }> {
  const { rows } = await sql<Row>`
    select chat_id as "chatId", message_id as "messageId", response from gateway_responses
    where id = ${id} and owner_id = ${ownerId}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw responseNotFound(path);
  return { ...row, response: parseResponse(row.response) };
}

export async function insertStoredResponse(
  trx: Queryable,
  ownerId: string,
  { chatId, messageId }: ResponsePlace,
  response: Record<string, unknown>,
): Promise<void> {
  await sql`
    insert into gateway_responses (id, owner_id, chat_id, message_id, response)
    values (${response.id}, ${ownerId}, ${chatId}, ${messageId}, ${JSON.stringify(response)})`.execute(trx);
}

/** Deletes the record of a response; its conversation stays. Throws `not_found`. */
export async function deleteStoredResponse(db: Queryable, ownerId: string, id: string): Promise<void> {
  const { numAffectedRows } = await sql`
    delete from gateway_responses where id = ${id} and owner_id = ${ownerId}`.execute(db);
  if (numAffectedRows !== 1n) throw responseNotFound('response_id');
}

function responseNotFound(path: string): ApiError {
  const message = 'No stored response has this id';
  const code = path === 'previous_response_id' ? 'previous_response_not_found' : 'response_not_found';
  return new ApiError('not_found', message, { details: [{ path, message, code }] });
}

/** The text is our own. */
function parseResponse(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}

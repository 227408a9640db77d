import { randomBytes } from 'node:crypto';
import type { Answer, Json, SignedIn } from '../app.ts';

/** Helpers of the artifact tests. */

type FormValue = string | Uint8Array;
export type FormPart = { name: string; value: FormValue; filename?: string; type?: string };

/** A multipart body, byte by byte as given: FormData would repair deliberately broken bodies. */
export function formBody(parts: readonly FormPart[]): { body: Buffer<ArrayBuffer>; contentType: string } {
  const boundary = `----test${randomBytes(12).toString('hex')}`;
  const chunks = parts.flatMap(({ name, value, filename, type }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n`;
    return [
      Buffer.from(`${head}${type === undefined ? '' : `content-type: ${type}\r\n`}\r\n`),
      Buffer.from(value),
      Buffer.from('\r\n'),
    ];
  });
  const body = Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]);
  return { body, contentType: `multipart/form-data; boundary=${boundary}` };
}

type Fields = Record<string, string | undefined>;
export type FileFacts = { name?: string; type?: string; bytes: string | Uint8Array };

/** Uploads with `POST /api/artifacts`, or another route that takes a form. */
export async function upload(
  user: Pick<SignedIn, 'fetch'>,
  fields: Fields,
  { name = 'file.txt', type = 'text/plain', bytes }: FileFacts,
  path = '/api/artifacts',
): Promise<Answer> {
  const texts = Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [{ name: key, value }]));
  return sendForm(user, [...texts, { name: 'file', value: bytes, filename: name, type }], path);
}

export async function sendForm(
  user: Pick<SignedIn, 'fetch'>,
  parts: readonly FormPart[],
  path = '/api/artifacts',
): Promise<Answer> {
  const { body, contentType } = formBody(parts);
  const response = await user.fetch(path, { method: 'POST', body, headers: { 'content-type': contentType } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

/** A file with this text; the record. Fails when it is refused. */
export async function put(user: SignedIn, scope: Fields, path: string, text = path): Promise<Json> {
  const answer = await upload(user, { ...scope, path, onConflict: 'fail' }, { bytes: text });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`);
  return answer.body.artifact;
}

export async function createChat(user: SignedIn, fields: object = {}): Promise<string> {
  return (await user.call('POST /api/chats', fields)).body.chat.id;
}

/** A project with this user as owner, straight into the tables: projects have tests of their own. */
export async function makeProject(
  pool: { query(text: string, values: unknown[]): Promise<unknown> },
  members: readonly string[],
  id = `project-${randomBytes(6).toString('hex')}`,
): Promise<string> {
  await pool.query(`insert into projects (id, name) values ($1, 'Project')`, [id]);
  for (const [index, userId] of members.entries()) {
    const role = index === 0 ? 'owner' : 'member';
    await pool.query('insert into project_members (project_id, user_id, role) values ($1, $2, $3)', [id, userId, role]);
  }
  return id;
}

export async function paths(user: SignedIn, query: Record<string, string>): Promise<string[]> {
  const { status, body, text } = await user.call('GET /api/artifacts', undefined, { query });
  if (status !== 200) throw new Error(text);
  return body.artifacts.map((artifact: { path: string }) => artifact.path);
}

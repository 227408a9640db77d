import { PassThrough, Readable, type Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ApiError } from '@homeport/contracts/errors';
import { sql } from 'kysely';
import { ZipFile } from 'yazl';
import { readPersonalization } from '../accounts/users.ts';
import type { BlobStore } from '../artifacts/blob-store.ts';
import { findBlobKey } from '../artifacts/blobs.ts';
import { readContent } from '../artifacts/contents.ts';
import { filenameOf } from '../artifacts/path.ts';
import { skillsOffFor } from '../assistants/shipped-skills.ts';
import { conversationNotFound } from '../conversations/chats.ts';
import { exportConversation } from '../conversations/export/export.ts';
import { waitAtMost } from '../platform/waits.ts';
import type { Platform } from '../platform.ts';
import { exportedSources } from '../web-search/sources.ts';

/**
 * Everything of a person as a zip archive, made while it is sent: conversations as JSON and Markdown, files, projects,
 * settings. operations/readers/homeport.ts reads it again.
 */

type Needs = Pick<Platform, 'db' | 'clock'> & { artifactStore: BlobStore };
type Content = { mediaType: string; sha256: string; size: number };
/** The newest first; times as ISO texts. */
type EarlierContent = Content & { version: number; createdAt: string };
type FileRow = Content & {
  id: string;
  path: string;
  createdAt: Date;
  version: number;
  changedAt: Date | null;
  earlier: EarlierContent[];
};
type ListedContent = { mediaType: string; createdAt: string; entry: string };
type ListedFile = ListedContent & {
  id: string;
  path: string;
  /** Only of a file that was replaced. */
  version?: number;
  changedAt?: string | null;
  earlier?: (ListedContent & { version: number })[];
};

const pageSize = 100;
/** A client that reads nothing for this long counts as disconnected. */
const silenceMs = 300_000;

export async function exportAccount(
  deps: Needs,
  ownerId: string,
  outgoing: Writable,
  signal: AbortSignal,
): Promise<void> {
  const archive = new Archive(deps, outgoing, signal);
  try {
    await writeAll(deps, ownerId, archive);
    await archive.end();
  } catch (error) {
    archive.abort();
    throw error;
  }
}

async function writeAll(deps: Needs, ownerId: string, archive: Archive): Promise<void> {
  const { kysely } = deps.db;
  const of = kysely.selectFrom('users').select(['name', 'email']).where('id', '=', ownerId);
  const { name, email } = await of.executeTakeFirstOrThrow();
  const { instructions, aboutMe } = await readPersonalization(kysely, ownerId);
  const skillsOff = await skillsOffFor(kysely, ownerId);
  const exportedAt = new Date(deps.clock.now()).toISOString();
  const about = {
    format: 'homeport-export',
    version: 1,
    exportedAt,
    user: { name, email, instructions, aboutMe },
    skillsOff,
  };
  await archive.json('homeport.json', about);
  await archive.json('prompts.json', { prompts: await ownPrompts(deps, ownerId) });
  const assistants: object[] = [];
  for (const assistant of await ownAssistants(deps, ownerId)) {
    assistants.push({ ...assistant, files: await archive.files(filesOf(deps, 'assistant', assistant.id)) });
  }
  await archive.json('assistants.json', { assistants });
  for await (const { name, content } of ownSkillFiles(deps, ownerId)) await archive.bytes(name, content);
  for (const project of await projectsOf(deps, ownerId)) {
    const files = await archive.files(await filesOf(deps, 'project', project.id));
    await archive.json(`projects/${project.id}.json`, { format: 'homeport-project', ...project, files });
  }
  for await (const chat of chatsOf(deps, ownerId)) await writeConversation(deps, ownerId, chat, archive);
}

async function writeConversation(
  deps: Needs,
  ownerId: string,
  chat: { id: string; projectId: string | null },
  archive: Archive,
): Promise<void> {
  const files = chat.projectId === null ? await archive.files(await filesOf(deps, 'chat', chat.id)) : [];
  const models = await modelNames(deps, chat.id);
  try {
    const whole = await exportConversation(deps, ownerId, { id: chat.id, format: 'json' });
    await archive.text(`conversations/${chat.id}.json`, withMembers({ files, models }, whole.chunks));
    const shown = await exportConversation(deps, ownerId, { id: chat.id, format: 'markdown' });
    await archive.text(`conversations/${chat.id}.md`, shown.chunks);
    await archive.lines(`sources/${chat.id}.jsonl`, exportedSources(deps.db.kysely, chat.id));
  } catch (error) {
    // Deleted since it was listed.
    if (!(error instanceof ApiError) || error.message !== conversationNotFound().message) throw error;
  }
}

/** Puts members before those of an object that is still being written. */
async function* withMembers(more: object, chunks: AsyncIterable<string>): AsyncGenerator<string, void> {
  let isFirst = true;
  for await (const chunk of chunks) {
    yield isFirst ? `${JSON.stringify(more).slice(0, -1)},${chunk.slice(1)}` : chunk;
    isFirst = false;
  }
}

async function* chatsOf({ db }: Needs, ownerId: string) {
  for (let after = ''; ; ) {
    const { rows } = await sql<{ id: string; projectId: string | null }>`
      select id, project_id as "projectId" from chats
      where owner_id = ${ownerId} and not temporary and id > ${after} order by id limit ${pageSize}`.execute(db.kysely);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

/** Models by the names that they have anywhere: their ids mean nothing in another installation. */
async function modelNames({ db }: Needs, chatId: string): Promise<Record<string, string>> {
  const { rows } = await sql<{ id: string; name: string }>`
    select m.id, m.provider_model_id as name from models m
    where m.id in (select model_id from messages where chat_id = ${chatId})`.execute(db.kysely);
  return Object.fromEntries(rows.map(({ id, name }) => [id, name]));
}

async function projectsOf({ db }: Needs, userId: string) {
  const { rows } = await sql<{
    id: string;
    name: string;
    archived: boolean;
    instructions: string | null;
    role: string;
    createdAt: Date;
  }>`
    select p.id, p.name, p.archived, p.instructions, m.role, p.created_at as "createdAt"
    from project_members m join projects p on p.id = m.project_id where m.user_id = ${userId} order by p.id`.execute(
    db.kysely,
  );
  return rows;
}

type FileOwner = 'chat' | 'project' | 'assistant';

async function* filesOf({ db }: Needs, kind: FileOwner, id: string): AsyncGenerator<FileRow, void> {
  for (let after = ''; ; ) {
    const { rows } = await sql<FileRow>`
      select id, path, media_type as "mediaType", sha256, size, created_at as "createdAt", version, changed_at as "changedAt",
        coalesce((select json_agg(json_build_object('version', v.version, 'mediaType', v.media_type, 'sha256', v.sha256,
          'size', v.size, 'createdAt', v.created_at) order by v.version desc)
          from artifact_versions v where v.artifact_id = artifacts.id), '[]') as earlier
      from artifacts where namespace = ${`${kind}:${id}`} and path > ${after} order by path limit ${pageSize}`.execute(
      db.kysely,
    );
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.path;
  }
}

async function ownPrompts({ db }: Needs, ownerId: string) {
  const { rows } =
    await sql`select name, title, text, audience from prompts where owner_id = ${ownerId} order by name`.execute(
      db.kysely,
    );
  return rows;
}

/** One skill at a time in memory. */
async function* ownSkillFiles({ db }: Needs, ownerId: string): AsyncGenerator<{ name: string; content: Buffer }> {
  const skills = await db.kysely
    .selectFrom('skills')
    .select(['id', 'name', 'audience', 'project_id'])
    .where('owner_id', '=', ownerId)
    .orderBy('id')
    .execute();
  for (const { id, name, audience, project_id } of skills) {
    const query = db.kysely.selectFrom('skill_files').select(['path', 'content']).where('skill_id', '=', id);
    for (const { path, content } of await query.orderBy('path').execute()) {
      yield { name: `skills/${project_id ?? audience}/${name}/${path}`, content };
    }
  }
}

async function ownAssistants({ db }: Needs, ownerId: string) {
  const { rows } = await sql<{ id: string }>`
    select a.id, v.name, v.description, v.icon, v.instructions, v.parameters, v.starters, v.workspace, v.tier,
      v.provider_model_id as "providerModelId", a.audience,
      case when v.mcp_server_ids is not null then coalesce((select json_agg(s.name order by s.seq) from mcp_servers s
        where s.id in (select jsonb_array_elements_text(v.mcp_server_ids))), '[]') end as "mcpServers"
    from assistants a join assistant_versions v on v.assistant_id = a.id and v.version = a.version
    where a.owner_id = ${ownerId} order by a.id`.execute(db.kysely);
  return rows;
}

async function* linesOf(first: object, others: AsyncIterator<object>): AsyncGenerator<string, void> {
  yield `${JSON.stringify(first)}\n`;
  for (let next = await others.next(); next.done !== true; next = await others.next()) {
    yield `${JSON.stringify(next.value)}\n`;
  }
}

/** One entry after the other, as fast as the receiver takes them: memory holds their names, never their contents. */
class Archive {
  readonly #deps: Needs;
  readonly #zip = new ZipFile();
  readonly #signal: AbortSignal;
  readonly #sent: Promise<void>;
  readonly #output: Readable;
  #bytes = 0;

  constructor(deps: Needs, outgoing: Writable, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    this.#output = Readable.from(this.#counted(this.#zip.outputStream as AsyncIterable<Buffer>), { objectMode: false });
    this.#sent = pipeline(this.#output, outgoing, { signal });
    // Awaited at the end; a receiver that leaves earlier ends the entry that is being written.
    this.#sent.catch(() => undefined);
  }

  json(name: string, value: object): Promise<void> {
    return this.text(name, [`${JSON.stringify(value, null, 2)}\n`]);
  }

  text(name: string, chunks: AsyncIterable<string> | Iterable<string>): Promise<void> {
    return this.#add(name, () => Readable.from(chunks, { objectMode: false }), true);
  }

  /** One object a line; no entry without any. */
  async lines(name: string, objects: AsyncIterator<object>): Promise<void> {
    const first = await objects.next();
    if (first.done === true) return;
    await this.text(name, linesOf(first.value, objects));
  }

  bytes(name: string, content: Buffer): Promise<void> {
    return this.#add(name, () => Readable.from([content], { objectMode: false }), true);
  }

  async files(rows: AsyncIterable<FileRow>): Promise<ListedFile[]> {
    const listed: ListedFile[] = [];
    for await (const row of rows) {
      const { id, path, version, changedAt } = row;
      const name = filenameOf(path).replaceAll('\\', '_');
      const content = await this.#content(`files/${id}/${name}`, row);
      if (content === undefined) continue;
      const file = { id, path, ...content };
      if (version === 1) {
        listed.push(file);
        continue;
      }
      const earlier: ListedFile['earlier'] = [];
      for (const each of row.earlier) {
        const entry = `files/${id}/versions/${each.version}/${name}`;
        const kept = await this.#content(entry, each);
        if (kept !== undefined) earlier.push({ version: each.version, ...kept });
      }
      listed.push({ ...file, version, changedAt: changedAt?.toISOString() ?? null, earlier });
    }
    return listed;
  }

  /** Undefined if it was deleted since it was listed. */
  async #content(entry: string, content: Content & { createdAt: Date | string }): Promise<ListedContent | undefined> {
    const { mediaType, createdAt } = content;
    if ((await findBlobKey(this.#deps.db.kysely, content.sha256)) === undefined) return undefined;
    await this.#add(entry, () => this.#bytesOf(content), !/^(image|video|audio)\/|zip/.test(mediaType));
    return { mediaType, createdAt: new Date(createdAt).toISOString(), entry };
  }

  async end(): Promise<void> {
    this.#zip.end();
    await this.#taken(this.#sent);
  }

  abort(): void {
    this.#output.destroy();
  }

  #bytesOf({ sha256, size }: Content): Readable {
    const stream = new PassThrough();
    if (size === 0) return stream.end();
    const take = async (bytes: Uint8Array): Promise<void> => {
      this.#signal.throwIfAborted();
      // The bytes are overwritten once this has resolved.
      await new Promise<void>((resolve, reject) => {
        stream.write(Buffer.from(bytes), (error) => (error ? reject(error) : resolve()));
      });
    };
    readContent(this.#deps, { sha256 }, { start: 0, end: size - 1 }, take).then(
      () => stream.end(),
      (error: Error) => stream.destroy(error),
    );
    return stream;
  }

  async #add(name: string, open: () => Readable, compress: boolean): Promise<void> {
    this.#signal.throwIfAborted();
    const stream = open();
    // An error after the last reader has gone must not end the process.
    stream.on('error', () => undefined);
    const done = Promise.race([finished(stream), this.#sent]);
    this.#zip.addReadStream(stream, name, { compress });
    await this.#taken(done).finally(() => stream.destroy());
  }

  async #taken(work: Promise<void>): Promise<void> {
    let isTaken = false;
    const taken = work.then(() => {
      isTaken = true;
    });
    for (let before = -1; !isTaken && before < this.#bytes; ) {
      before = this.#bytes;
      await waitAtMost(this.#deps.clock, silenceMs, taken);
    }
    if (!isTaken) throw new Error('the receiver takes nothing');
  }

  async *#counted(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    for await (const piece of pieces) {
      this.#bytes += piece.length;
      yield piece;
    }
  }
}

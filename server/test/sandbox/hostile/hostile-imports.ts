import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateRawSync } from 'node:zlib';
import { makeZip } from '../../documents/document-makers.ts';
import type { AttackKind, AttackMaker } from './attacks.ts';

const most = 30 * 1024 * 1024;
const many = (text: string, size: number): Buffer => Buffer.alloc(Math.min(most, text.length * size), text);
const list = (text: string, size: number, before: string, after: string): Buffer =>
  Buffer.concat([Buffer.from(before), many(`${text},`, size), Buffer.from(`${text}${after}`)]);

/** One element of every program's export, with a place for the attack. */
const elements: Record<string, [string, string]> = {
  chatgpt: ['[{"title":"t","mapping":{"a":{"message":', '}}}]'],
  claude: ['[{"uuid":"a","name":"n","chat_messages":', '}]'],
  librechat: ['{"conversationId":"a","messages":', '}'],
  'open-webui': ['[{"id":"a","chat":{"history":{"messages":{"m":', '}}}}]'],
  'chatbot-ui': ['{"version":4,"history":[{"id":1,"messages":', '}]}'],
  homeport: ['{"chat":{"id":"a"},"activeMessageId":null,"messages":', '}'],
};

const packed = (name: string, json: Buffer): Buffer => makeZip({}, { deflated: { [name]: deflateRawSync(json) } });

/** Objects, distinct names, lists and depth, where the program keeps its messages. */
function attacksOn([before, after]: [string, string]): Record<string, (size: number) => Buffer> {
  return {
    objects: (size) => list('{}', size * 10, `${before}[`, `]${after}`),
    lists: (size) => list('[[[]]]', size * 4, `${before}[`, `]${after}`),
    names: (size) => {
      const names = Array.from({ length: size }, (_, index) => `"n${index}":0`).join(',');
      return Buffer.from(`${before}[{${names}}]${after}`);
    },
    depth: (size) =>
      Buffer.concat([Buffer.from(before), many('[', size * 20), many(']', size * 20), Buffer.from(after)]),
    open: (size) => Buffer.concat([Buffer.from(before), many('[', size * 20)]),
  };
}

/** Entries with long comments. */
function commented(size: number): Buffer {
  const count = Math.max(1, Math.min(600, size));
  const zip = makeZip(Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}.json`, '[]'])));
  const start = zip.readUInt32LE(zip.length - 6);
  const comment = Buffer.alloc(64_000, 'c');
  const entries: Buffer[] = [];
  for (let at = start; zip.readUInt32LE(at) === 0x02014b50; ) {
    const length = 46 + zip.readUInt16LE(at + 28);
    const entry = Buffer.from(zip.subarray(at, at + length));
    entry.writeUInt16LE(comment.length, 32);
    entries.push(entry, comment);
    at += length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.from(zip.subarray(zip.length - 22));
  end.writeUInt32LE(directory.length, 12);
  return Buffer.concat([zip.subarray(0, start), directory, end]);
}

const columns = 'id text, user_id text, title text, created_at int, updated_at int, archived int, folder_id text';
const rows = "insert into chat (id, title) values ('a', 'A'), ('b', 'B')";
const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n)';
const plain = `create table chat (${columns}); ${rows};`;
/** Databases that compute while they are read. Computed columns come last: filling the table would compute them. */
const databases: Record<string, string> = {
  instr: `${plain} alter table chat add column g text generated always as (instr(hex(zeroblob(1e8)), hex(zeroblob(4e7)) || 'x'))`,
  generated: `${plain} alter table chat add column chat text generated always as (hex(zeroblob(2e8)))`,
  view: `create view chat as ${numbers} select i as id, 'x' as chat from n`,
  trigger: `${plain} create trigger t after insert on chat begin select hex(zeroblob(2e8)); end`,
  nested: `create table chat (${columns}, chat text); insert into chat (id, chat) values ('a', '${'['.repeat(900_000)}')`,
  messages: `create table chat (${columns}, chat text); ${rows};
    create view chat_message as ${numbers} select i as id, 'a' as chat_id from n`,
};

async function databaseOf(sql: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-database-'));
  try {
    const path = join(folder, 'webui.db');
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
    return await readFile(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function hostileImports(): Promise<AttackKind[]> {
  const products = Object.entries(elements).map(([product, places]): AttackKind => {
    const attacks = attacksOn(places);
    const name = product === 'chatgpt' || product === 'claude' ? 'conversations.json' : 'export.json';
    const zips = Object.entries(attacks).map(([kind, make]): [string, AttackMaker] => [
      `${product}-${kind}`,
      (size) => packed(name, make(size)),
    ]);
    return { format: 'zip', to: 'imports', makers: { ...Object.fromEntries(zips), commented } };
  });
  const json = Object.entries(attacksOn(['[', ']'])).map(([kind, make]): [string, AttackMaker] => [kind, make]);
  const files = await Promise.all(
    Object.entries(databases).map(async ([name, sql]): Promise<[string, AttackMaker]> => {
      const bytes = await databaseOf(sql);
      return [name, () => bytes];
    }),
  );
  return [
    ...products,
    { format: 'json', to: 'imports', makers: Object.fromEntries(json) },
    { format: 'db', to: 'imports', makers: Object.fromEntries(files) },
  ];
}

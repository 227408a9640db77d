import { z } from 'zod';
import { replaceByBaseline } from '../db/baseline.ts';
import { listMigrations } from '../db/migrate.ts';
import { type Member, parseJson, readArchive } from './archive-reader.ts';
import { BackupError, damaged } from './backup-error.ts';
import type { IdentityState } from './dump.ts';
import { openEnvelope } from './envelope.ts';
import { tableMemberMax, unpack } from './load.ts';

/** Proves a backup without restoring it: every byte is the one that was written, and nothing is missing. */

const headMax = 4 * 1024 * 1024;

const head = z.object({
  format: z.number(),
  release: z.string(),
  createdAt: z.string(),
  installation: z.string(),
  migrations: z.array(z.string()).min(1),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()).min(1) })),
  files: z.object({ count: z.number(), bytes: z.number() }),
  withWorkspaces: z.boolean(),
  settings: z.record(z.string(), z.unknown()),
});
const end = z.object({
  tables: z.record(z.string(), z.number()),
  files: z.object({ count: z.number(), bytes: z.number() }),
});
const identities = z.object({
  identities: z.array(
    z.object({ table: z.string(), column: z.string(), last: z.string().regex(/^\d+$/), isCalled: z.boolean() }),
  ),
});
const secrets = z.object({
  AUTH_SECRET: z.string(),
  SETTINGS_ENCRYPTION_KEY: z.string(),
  SETTINGS_ENCRYPTION_KEY_PREVIOUS: z.array(z.string()),
});

export type BackupHead = z.output<typeof head>;
export type BackupSecrets = z.output<typeof secrets>;
export type BackupSummary = BackupHead & { rows: Record<string, number>; secrets: BackupSecrets | null };

/** Handlers for the parts of a backup while it is read. */
export type Parts = {
  head?(head: BackupHead): Promise<void>;
  table?(name: string, content: Buffer): Promise<void>;
  identities?(states: IdentityState[]): Promise<void>;
  file?(sha256: string, member: Member): Promise<void>;
  home?(member: Member): Promise<void>;
};

/** Reads a whole backup and hands its parts on, in their order. Throws BackupError for anything wrong with it. */
export async function readBackup(
  source: AsyncIterable<Uint8Array>,
  passphrase: string | undefined,
  parts: Parts,
): Promise<BackupSummary> {
  const members = readArchive(openEnvelope(source, passphrase));
  const first = await firstMember(members);
  const found = parsed(head, await first.bytes(headMax));
  if (found.format !== 1) {
    throw new BackupError(`This backup has format ${found.format}, which only a newer release of Homeport reads.`);
  }
  await parts.head?.(found);
  let kept: BackupSecrets | null = null;
  const files = { count: 0, bytes: 0 };
  let last = '';
  for (;;) {
    const next = await members.next();
    if (next.done === true) {
      const { tables, files: expected } = parsed(end, Buffer.from(JSON.stringify(next.value)));
      if (files.count !== expected.count || files.bytes !== expected.bytes || files.count !== found.files.count) {
        throw damaged('files are missing');
      }
      return { ...found, rows: tables, secrets: kept };
    }
    const member = next.value;
    const [folder = '', name = ''] = member.name.split('/');
    if (member.name === 'database/identities.json') {
      await parts.identities?.(parsed(identities, await member.bytes(headMax)).identities);
    } else if (folder === 'database') {
      await (parts.table ?? checkTable)(name, await member.bytes(tableMemberMax));
    } else if (member.name === 'secrets.json') {
      kept = parsed(secrets, await member.bytes(headMax));
    } else if (folder === 'files') {
      // In order, so none comes twice.
      if (name <= last || !/^[0-9a-f]{64}$/.test(name)) throw damaged('its files are in disorder');
      last = name;
      files.count += 1;
      files.bytes += member.size;
      await parts.file?.(name, member);
    } else if (folder === 'workspaces') {
      await parts.home?.(member);
    } else throw damaged(`it has an unknown member ${JSON.stringify(member.name.slice(0, 100))}`);
  }
}

/** Throws unless this release knows every migration of the backup. */
export async function refuseNewer({ release, migrations }: BackupHead): Promise<void> {
  const known = new Set(await listMigrations());
  const unknown = replaceByBaseline(migrations).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new BackupError(
    `The backup was made by a newer release of Homeport, ${release} (its database has ${unknown.join(', ')}). ` +
      'Restore it with that release or a later one.',
  );
}

async function checkTable(_name: string, content: Buffer): Promise<void> {
  await unpack(content);
}

async function firstMember(members: AsyncGenerator<Member, unknown, undefined>): Promise<Member> {
  const first = await members.next();
  if (first.done === true || first.value.name !== 'homeport-backup.json') {
    throw new BackupError('This is not a backup of Homeport.');
  }
  return first.value;
}

function parsed<T>(schema: z.ZodType<T>, bytes: Buffer): T {
  const result = schema.safeParse(parseJson(bytes.toString()));
  if (!result.success) throw damaged('a description in it cannot be read');
  return result.data;
}

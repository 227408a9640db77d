import { once } from 'node:events';
import { openBlobStore } from './artifacts/open-store.ts';
import { adoptStore } from './artifacts/store-mark.ts';
import { operator, recordEvent } from './audit.ts';
import { type Rotation, resealProviders } from './catalogue/providers.ts';
import { type Config, loadConfig } from './config.ts';
import { joinEmbedded } from './db/embedded.ts';
import { assertOwnSchema } from './db/migrate.ts';
import { type Database, type DatabaseLog, inTransaction, openDatabase } from './db/pool.ts';
import { resealMcpServers } from './mcp/rotation.ts';
import { type ExportOptions, exportInstallation } from './provision/export-text.ts';
import { replaceCanary, resealCanary } from './secrets/canary.ts';
import { createKeyRing } from './secrets/key-ring.ts';
import { resealSettings } from './settings/settings.ts';

const usage = `Usage: npm run admin -- <command>

Commands:
  rotate-keys   Encrypt every stored credential with the current SETTINGS_ENCRYPTION_KEY. Needs the settings of the
                service, which may keep running. See docs/operations.md, "Keys".
  adopt-key     Make the current SETTINGS_ENCRYPTION_KEY the key of this installation after the former one was lost.
  adopt-store   Make the current ARTIFACT_STORE the store of this installation after the former one was lost.
  export [--json] [--without-conversations]
                Write the installation as a manifest to standard output, YAML unless --json is given. Secrets are
                placeholders. The service may keep running. See docs/manifest.md.
`;

type Command = {
  options: readonly string[];
  run(config: Config, db: Database, signal: AbortSignal, given: readonly string[]): Promise<number>;
};
const commands = new Map<string, Command>([
  ['rotate-keys', { options: [], run: rotateKeys }],
  ['adopt-key', { options: [], run: adoptKey }],
  ['adopt-store', { options: [], run: adoptFileStore }],
  ['export', { options: ['--json', '--without-conversations'], run: exportManifest }],
]);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);
const log: DatabaseLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: (details, message) => complain(`${message} ${JSON.stringify(details)}`),
  error: (details, message) => complain(`${message} ${JSON.stringify(details)}`),
};

async function main([name, ...rest]: string[]): Promise<number> {
  if (name === '--help' || name === 'help') {
    process.stdout.write(usage);
    return 0;
  }
  const command = commands.get(name ?? '');
  if (command === undefined || !rest.every((option) => command.options.includes(option))) {
    process.stderr.write(usage);
    return 2;
  }
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => stopping.abort(new Error('interrupted')));
  }
  const config = loadConfig(undefined, 'must-exist');
  return withDatabase(config, stopping.signal, (db) => command.run(config, db, stopping.signal, rest));
}

async function withDatabase<T>(config: Config, signal: AbortSignal, work: (db: Database) => Promise<T>): Promise<T> {
  const embedded =
    config.databaseUrl === undefined ? await joinEmbedded({ dataDir: config.dataDir, log, signal }) : undefined;
  const db = openDatabase({ connection: embedded?.connection ?? config.databaseUrl ?? '', max: 2, log });
  try {
    await assertOwnSchema(db);
    return await work(db);
  } finally {
    await db.close();
    await embedded?.stop();
  }
}

async function rotateKeys(config: Config, db: Database, signal: AbortSignal): Promise<number> {
  const secrets = createKeyRing({ current: config.encryptionKey, previous: [...config.previousEncryptionKeys] });
  const rotation = await resealProviders(
    { db, secrets },
    {
      signal,
      onUnreadable: ({ providerId, owner, column }) =>
        say(`unreadable: ${column === 'api_key' ? 'API key' : 'headers'} of provider ${providerId} (owner ${owner})`),
    },
  );
  const servers = await resealMcpServers(
    { db, secrets },
    {
      signal,
      onUnreadable: ({ serverId, owner }) => say(`unreadable: headers of MCP server ${serverId} (owner ${owner})`),
    },
  );
  for (const count of ['resealed', 'current', 'unreadable'] as const) rotation[count] += servers[count];
  rotation.interrupted ||= servers.interrupted;
  const clientSecret = await resealSettings({ db, secrets });
  if (clientSecret !== 'absent') rotation[clientSecret] += 1;
  if (clientSecret === 'unreadable') say('unreadable: client secret of the OIDC configuration');
  say(
    `Credentials: ${rotation.resealed} encrypted again, ${rotation.current} already current, ${rotation.unreadable} unreadable.`,
  );
  // Last, because a start without the previous key is refused until everything has been sealed again.
  if (!rotation.interrupted && !(await resealCanary({ db, secrets }))) {
    rotation.unreadable += 1;
    say('unreadable: the mark of the installation (see adopt-key)');
  }
  await recordEvent(db.kysely, operator, { action: 'keys.rotated', details: { ...rotation } });
  const advice = adviceOn(rotation);
  if (advice === undefined) return 0;
  complain(advice);
  return 1;
}

function adviceOn({ interrupted, unreadable }: Rotation): string | undefined {
  if (interrupted) return 'Interrupted. Nothing was lost; run the command again to finish.';
  if (unreadable === 0) return undefined;
  return (
    'Unreadable credentials were left as they are. Put the key they were encrypted with into ' +
    'SETTINGS_ENCRYPTION_KEY_PREVIOUS and run the command again, or have them entered again.'
  );
}

async function adoptKey(config: Config, db: Database): Promise<number> {
  const secrets = createKeyRing({ current: config.encryptionKey, previous: [...config.previousEncryptionKeys] });
  await inTransaction(db, async (transaction) => {
    await replaceCanary(transaction, secrets);
    await recordEvent(transaction, operator, { action: 'keys.adopted' });
  });
  say('SETTINGS_ENCRYPTION_KEY is the key of this installation now. What it cannot read has to be entered again.');
  return 0;
}

async function adoptFileStore(config: Config, db: Database): Promise<number> {
  const artifactStore = openBlobStore(config, { assertRoom: async () => undefined });
  try {
    await adoptStore({ db, artifactStore });
  } finally {
    artifactStore.close();
  }
  await recordEvent(db.kysely, operator, { action: 'store.adopted' });
  say('ARTIFACT_STORE is the store of this installation now. Files of nobody in it will be removed within two hours.');
  return 0;
}

async function exportManifest(
  config: Config,
  db: Database,
  signal: AbortSignal,
  given: readonly string[],
): Promise<number> {
  const secrets = createKeyRing({ current: config.encryptionKey, previous: [...config.previousEncryptionKeys] });
  const options: ExportOptions = {
    form: given.includes('--json') ? 'json' : 'yaml',
    conversations: !given.includes('--without-conversations'),
  };
  const write = async (text: string): Promise<void> => {
    signal.throwIfAborted();
    if (!process.stdout.write(text)) await once(process.stdout, 'drain', { signal });
  };
  await exportInstallation({ config, db, secrets }, options, write, (loss) => complain(`note: ${loss}`));
  return 0;
}

/** The message for people; usually a wrong DATABASE_URL points to a database that was never Homeport's. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  const undefinedTable = 'code' in error && error.code === '42P01';
  return undefinedTable ? 'This database was never used by Homeport. Start the service on it once.' : error.message;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  complain(describe(error));
  process.exitCode = 1;
}

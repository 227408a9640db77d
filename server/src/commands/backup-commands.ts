import { readFile } from 'node:fs/promises';
import { openBlobStore } from '../artifacts/open-store.ts';
import { operator, recordEvent } from '../audit/audit.ts';
import { makeBackup } from '../backups/backup.ts';
import { usualPlace } from '../backups/page-backups.ts';
import { openSource } from '../backups/places.ts';
import { restoreBackup } from '../backups/restore.ts';
import { type BackupSummary, readBackup } from '../backups/verify.ts';
import { loadConfig, loadRestoreConfig } from '../config/config.ts';
import { systemClock } from '../platform/clock.ts';
import { type Call, type Command, commandLog, type Outcome, UsageError, withInstallation } from './command.ts';

const progressMs = 2_000;
const passphraseHelp = '  --passphrase-file <file>   the file whose first line is the passphrase';

/** Commands that make, prove and restore backups. */
export const backupCommands: readonly Command[] = [
  {
    name: 'backup',
    synopsis: '[--to <place>] [--with-workspaces] [--passphrase-file <file>]',
    summary: 'Write the whole installation of one instant to one file, while it runs or not.',
    help: `  --to <place>               a file, a folder, s3://bucket/name, or - for standard output; default: BACKUP_TO
  --with-workspaces          also the homes of workspaces in mode local
${passphraseHelp};
                             the backup is encrypted then and has the keys of the installation, too`,
    options: {
      to: { type: 'string' },
      'with-workspaces': { type: 'boolean' },
      'passphrase-file': { type: 'string' },
    },
    words: [0, 0],
    run: backup,
  },
  {
    name: 'verify',
    synopsis: '<backup> [--passphrase-file <file>]',
    summary: 'Prove that a backup is whole and unchanged, without restoring it.',
    help: passphraseHelp,
    options: { 'passphrase-file': { type: 'string' } },
    words: [1, 1],
    run: verify,
  },
  {
    name: 'restore',
    synopsis: '<backup> [--into <place>] [--passphrase-file <file>]',
    summary:
      'Make an empty place the installation of a backup: the place of the settings, or another one.\nA backup of an earlier release is brought up to date.',
    help: `  --into <place>             a folder that gets everything, or the postgres:// URL of an empty database
${passphraseHelp}`,
    options: { into: { type: 'string' }, 'passphrase-file': { type: 'string' } },
    words: [1, 1],
    run: restore,
  },
];

async function backup(call: Call): Promise<Outcome> {
  const passphrase = await readPassphrase(call);
  return withInstallation(call.signal, async ({ config, db }) => {
    const artifactStore = openBlobStore(config, { assertRoom: async () => undefined });
    const startedAt = systemClock.elapsed();
    const show = progressOf(call);
    try {
      const to = call.value('to') ?? usualPlace(config);
      const made = await makeBackup(
        { config, db, artifactStore },
        {
          to,
          passphrase,
          cause: 'command',
          withWorkspaces: call.flag('with-workspaces'),
          signal: call.signal,
          onProgress: ({ step, rows, files, bytes }) =>
            show(`${step}: ${rows} rows, ${files} files, ${megabytes(bytes)} written`),
        },
      );
      await recordEvent(db.kysely, operator, {
        action: 'backup.created',
        details: { place: made.to, bytes: made.bytes, encrypted: made.encrypted },
      });
      const seconds = Math.round((systemClock.elapsed() - startedAt) / 100) / 10;
      const rows = Object.values(made.tables).reduce((sum, count) => sum + count, 0);
      const lines = [
        `Backup: ${made.to} (${megabytes(made.bytes)}, ${rows} rows, ${made.files.count} files, ${seconds} s)`,
        ...(made.encrypted
          ? []
          : ['It does not have the keys of the installation: keep secrets.json or your settings as well.']),
        ...((made.workspaces?.skipped ?? 0) > 0
          ? [
              `Workspace entries left out, such as sockets, unreadable files, and files more than 200 folders deep: ${made.workspaces?.skipped}.`,
            ]
          : []),
      ];
      const outcome = { ok: true, lines, result: { backup: { ...made, seconds } } };
      if (made.to !== '-') return outcome;
      // Standard output is the backup.
      call.note(call.json ? JSON.stringify({ ok: true, ...outcome.result }) : lines.join('\n'));
      return { ok: true };
    } finally {
      artifactStore.close();
    }
  });
}

async function verify(call: Call): Promise<Outcome> {
  const passphrase = await readPassphrase(call);
  const config = loadConfig(undefined, 'may-be-absent');
  const [from = ''] = call.words;
  const source = openSource(config, from);
  try {
    const found = await readBackup(source.read(), passphrase, {});
    return { ok: true, lines: [`The backup is whole: ${inWords(found)}`], result: { backup: factsOf(found) } };
  } finally {
    source.close();
  }
}

async function restore(call: Call): Promise<Outcome> {
  const passphrase = await readPassphrase(call);
  const config = loadRestoreConfig(call.value('into'));
  const [from = ''] = call.words;
  const source = openSource(config, from);
  const show = progressOf(call);
  try {
    const { backup: found, notes } = await restoreBackup({
      config,
      source,
      passphrase,
      log: commandLog,
      signal: call.signal,
      onProgress: ({ step, files }) => show(step === 'verify' ? 'proving the backup' : `${files} files restored`),
    });
    const lines = [`Restored: ${inWords(found)}`, ...notes.map((note) => `Note: ${note}`)];
    return { ok: true, lines, result: { backup: factsOf(found), notes } };
  } finally {
    source.close();
  }
}

async function readPassphrase(call: Call): Promise<string | undefined> {
  const file = call.value('passphrase-file');
  if (file === undefined) return undefined;
  const text = await readFile(file, 'utf8').catch(() => {
    throw new UsageError(`--passphrase-file names ${file}, which cannot be read.`);
  });
  const [passphrase = ''] = text.split(/\r?\n/);
  if (passphrase === '') throw new UsageError(`--passphrase-file names ${file}, whose first line is empty.`);
  return passphrase;
}

function progressOf(call: Call): (line: string) => void {
  let saidAt = systemClock.elapsed();
  return (line) => {
    if (systemClock.elapsed() - saidAt < progressMs) return;
    saidAt = systemClock.elapsed();
    call.note(line);
  };
}

function factsOf({
  release,
  createdAt,
  installation,
  migrations,
  rows,
  files,
  withWorkspaces,
  secrets,
}: BackupSummary) {
  const migration = migrations.at(-1);
  return {
    release,
    migration,
    createdAt,
    installation,
    tables: rows,
    files,
    withWorkspaces,
    withSecrets: secrets !== null,
  };
}

function inWords(found: BackupSummary): string {
  const rows = Object.values(found.rows).reduce((sum, count) => sum + count, 0);
  const { count, bytes } = found.files;
  return `release ${found.release}, ${found.createdAt}, ${rows} rows, ${count} files (${megabytes(bytes)})`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

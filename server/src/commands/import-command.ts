import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ImportRecord } from '@homeport/contracts/imports';
import { openBlobStore } from '../artifacts/open-store.ts';
import type { Database } from '../db/pool.ts';
import { cancelImport, createImport, getImport } from '../imports/import-records.ts';
import { Imports } from '../imports/imports.ts';
import { systemClock } from '../platform/clock.ts';
import { createLogger } from '../platform/logger.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { type Call, type Command, type Outcome, UsageError, withInstallation } from './command.ts';
import { findAccount } from './people-commands.ts';

const lookEveryMs = 300;

/** The command for what people bring from elsewhere. */
export const importCommands: readonly Command[] = [
  {
    name: 'import',
    synopsis: '<file> --user <email> [--dry-run]',
    words: [1, 1],
    run: bring,
    options: { user: { type: 'string' }, 'dry-run': { type: 'boolean' } },
    summary: 'Import the export of another program for a person; the service may keep running.',
    help: '  --user <email>   whose conversations they become\n  --dry-run        only tell what would come',
  },
];

async function bring(call: Call): Promise<Outcome> {
  const [file = ''] = call.words;
  const email = call.value('user');
  if (email === undefined) throw new UsageError('Whose conversations are these? Give --user.');
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) throw new Error(`${file} is not a readable file.`);
  return withInstallation(call.signal, async ({ config, db }) => {
    const ownerId = await findAccount(db, email);
    const disk = { assertRoom: async () => undefined };
    const artifactStore = openBlobStore(config, disk);
    const log = createLogger('warn', process.stderr);
    const sandbox = new Sandbox(join(config.dataDir, 'parsing'), log);
    const deps = { config, db, artifactStore, disk, log, clock: systemClock, sandbox };
    const imports = new Imports(deps);
    try {
      const stored = await artifactStore.put(createReadStream(file));
      const given = { filename: basename(file).slice(0, 255), isWanted: !call.flag('dry-run') };
      const { id } = await createImport(deps, ownerId, given, stored);
      // Either the running service or this process claims it first.
      imports.start();
      const record = await settled(db, ownerId, id, call);
      // A dry run leaves no import that waits for its start.
      if (record.state === 'ready') await cancelImport(db.kysely, ownerId, id);
      return {
        ok: record.state === 'done' || record.state === 'ready',
        lines: linesOf(record),
        result: { import: record },
      };
    } finally {
      await imports.close();
      await sandbox.close();
      artifactStore.close();
    }
  });
}

async function settled(db: Database, ownerId: string, id: string, call: Call): Promise<ImportRecord> {
  let lastLine = '';
  for (;;) {
    const record = await getImport(db.kysely, ownerId, id);
    const { conversations, imported } = record.counts;
    const line = `${record.state}: ${conversations} conversations read, ${imported} imported`;
    if (line !== lastLine) call.note(line);
    lastLine = line;
    if (record.state !== 'reading' && record.state !== 'importing') return record;
    await systemClock.sleep(lookEveryMs, call.signal);
  }
}

function linesOf({ state, source, counts, problems }: ImportRecord): string[] {
  const { new: fresh, more, same, leftOut, imported, projects, assistants, prompts, skills } = counts;
  const reasons = problems.map(({ title, message }) => (title === null ? message : `${title}: ${message}`));
  if (state === 'failed') return ['The import failed.', ...reasons];
  if (state !== 'done' && state !== 'ready') return [`The import was ${state}.`, ...reasons];
  const result = state === 'done' ? `Imported from ${source}: ${imported} conversations.` : `A trial run of ${source}.`;
  return [
    result,
    `New: ${fresh}. With new messages: ${more}. Already here: ${same}. Left out: ${leftOut}. Projects: ${projects}.`,
    ...(assistants + prompts + skills > 0
      ? [`Assistants: ${assistants}. Prompts: ${prompts}. Skills: ${skills}.`]
      : []),
    ...reasons,
  ];
}

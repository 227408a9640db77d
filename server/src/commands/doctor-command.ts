import { openBlobStore } from '../artifacts/open-store.ts';
import { loadConfig } from '../config/config.ts';
import type { Call, Command, Outcome } from './command.ts';
import { openInstallation } from './command.ts';
import { examine } from './doctor.ts';

const marks = { ok: 'ok     ', warning: 'WARNING', failed: 'FAILED ' };

/** Says whether an installation is right. */
export const doctorCommand: Command = {
  name: 'doctor',
  synopsis: '',
  options: {},
  words: [0, 0],
  run: doctor,
  summary:
    'Check settings, database, disk, file store, backups, clock, workspaces and the way through a proxy; say what to do.',
  help: 'Needs the settings of the service, which should be running. Fails if a check fails; a warning is no failure.',
};

async function doctor({ signal }: Call): Promise<Outcome> {
  const config = loadConfig(undefined, 'must-exist');
  const artifactStore = openBlobStore(config, { assertRoom: async () => undefined });
  const opened = await openInstallation(config, signal).catch((error: unknown) =>
    error instanceof Error ? error : new Error('unknown reason'),
  );
  try {
    const checks = await examine({ config, db: opened instanceof Error ? opened : opened.db, artifactStore });
    const lines = checks.flatMap(({ check, state, message, advice }) => [
      `${marks[state]} ${check}: ${message}`,
      ...(advice === undefined ? [] : [`        ${advice}`]),
    ]);
    return { ok: checks.every(({ state }) => state !== 'failed'), lines, result: { checks } };
  } finally {
    artifactStore.close();
    if (!(opened instanceof Error)) await opened.close();
  }
}

import { once } from 'node:events';
import { openBlobStore } from '../artifacts/open-store.ts';
import { adoptStore } from '../artifacts/store-mark.ts';
import { operator, recordEvent } from '../audit/audit.ts';
import { type Rotation, resealProviders } from '../catalogue/reseal-providers.ts';
import type { Config } from '../config/config.ts';
import { inTransaction } from '../db/pool.ts';
import { resealMcpServers } from '../mcp/rotation.ts';
import { type ExportOptions, exportInstallation } from '../provision/export/export-text.ts';
import { replaceCanary, resealCanary } from '../secrets/canary.ts';
import { createKeyRing, type KeyRing } from '../secrets/key-ring.ts';
import { resealSettings } from '../settings/settings.ts';
import { resealSearchKeys } from '../web-search/settings.ts';
import { type Call, type Command, type Outcome, withInstallation } from './command.ts';

/** Commands for keys and the file store of an installation, and for its description as a manifest. */
export const keyCommands: readonly Command[] = [
  {
    name: 'rotate-keys',
    synopsis: '',
    options: {},
    words: [0, 0],
    run: rotateKeys,
    summary: 'Encrypt every stored credential with the current SETTINGS_ENCRYPTION_KEY.',
    help: 'Needs the settings of the service, which may keep running. See docs/operations.md, "Keys".',
  },
  {
    name: 'adopt-key',
    synopsis: '',
    options: {},
    words: [0, 0],
    run: adoptKey,
    help: '',
    summary: 'Make the current SETTINGS_ENCRYPTION_KEY the key of this installation after the former one was lost.',
  },
  {
    name: 'adopt-store',
    synopsis: '',
    options: {},
    words: [0, 0],
    run: adoptFileStore,
    help: '',
    summary: 'Make the current ARTIFACT_STORE the store of this installation after the former one was lost.',
  },
  {
    name: 'export',
    synopsis: '[--json] [--without-conversations]',
    words: [0, 0],
    run: exportManifest,
    options: { 'without-conversations': { type: 'boolean' } },
    summary: 'Write the installation as a manifest to standard output, YAML unless --json is given.',
    help: 'Secrets are placeholders. The service may keep running. It is not a backup. See docs/manifest.md.',
  },
];

function keyRing(config: Config): KeyRing {
  return createKeyRing({ current: config.encryptionKey, previous: [...config.previousEncryptionKeys] });
}

const mcpCredentials = {
  headers: 'headers',
  env: 'environment',
  client_secret: 'client secret',
  envelope: 'sign-in',
} as const;

function rotateKeys({ signal }: Call): Promise<Outcome> {
  return withInstallation(signal, async ({ config, db }) => {
    const secrets = keyRing(config);
    const lines: string[] = [];
    const rotation = await resealProviders(
      { db, secrets },
      {
        signal,
        onUnreadable: ({ providerId, owner, column }) =>
          void lines.push(
            `unreadable: ${column === 'api_key' ? 'API key' : 'headers'} of provider ${providerId} (owner ${owner})`,
          ),
      },
    );
    const servers = await resealMcpServers(
      { db, secrets },
      {
        signal,
        onUnreadable: ({ serverId, owner, kind }) =>
          void lines.push(`unreadable: ${mcpCredentials[kind]} of MCP server ${serverId} (owner ${owner})`),
      },
    );
    for (const count of ['resealed', 'current', 'unreadable'] as const) rotation[count] += servers[count];
    rotation.interrupted ||= servers.interrupted;
    const clientSecret = await resealSettings({ db, secrets });
    if (clientSecret !== 'absent') rotation[clientSecret] += 1;
    if (clientSecret === 'unreadable') lines.push('unreadable: client secret of the OIDC configuration');
    const searchKeys = await resealSearchKeys({ db, secrets });
    for (const count of ['resealed', 'current', 'unreadable'] as const) rotation[count] += searchKeys[count];
    for (const id of searchKeys.unreadableIds) lines.push(`unreadable: API key of web search (owner ${id})`);
    const { resealed, current, unreadable } = rotation;
    lines.push(`Credentials: ${resealed} encrypted again, ${current} already current, ${unreadable} unreadable.`);
    // Last, because a start without the previous key is refused until everything has been sealed again.
    if (!rotation.interrupted && !(await resealCanary({ db, secrets }))) {
      rotation.unreadable += 1;
      lines.push('unreadable: the mark of the installation (see adopt-key)');
    }
    await recordEvent(db.kysely, operator, { action: 'keys.rotated', details: { ...rotation } });
    const advice = adviceOn(rotation);
    return {
      ok: advice === undefined,
      lines: advice === undefined ? lines : [...lines, advice],
      result: { ...rotation },
    };
  });
}

function adviceOn({ interrupted, unreadable }: Rotation): string | undefined {
  if (interrupted) return 'Interrupted. Nothing was lost; run the command again to finish.';
  if (unreadable === 0) return undefined;
  return (
    'Unreadable credentials were left as they are. Put the key they were encrypted with into ' +
    'SETTINGS_ENCRYPTION_KEY_PREVIOUS and run the command again, or have them entered again.'
  );
}

function adoptKey({ signal }: Call): Promise<Outcome> {
  return withInstallation(signal, async ({ config, db }) => {
    await inTransaction(db, async (transaction) => {
      await replaceCanary(transaction, keyRing(config));
      await recordEvent(transaction, operator, { action: 'keys.adopted' });
    });
    const line =
      'SETTINGS_ENCRYPTION_KEY is the key of this installation now. Credentials that it cannot decrypt must be entered again.';
    return { ok: true, lines: [line], result: {} };
  });
}

function adoptFileStore({ signal }: Call): Promise<Outcome> {
  return withInstallation(signal, async ({ config, db }) => {
    const artifactStore = openBlobStore(config, { assertRoom: async () => undefined });
    try {
      await adoptStore({ db, artifactStore });
    } finally {
      artifactStore.close();
    }
    await recordEvent(db.kysely, operator, { action: 'store.adopted' });
    const line =
      'ARTIFACT_STORE is the store of this installation now. Unreferenced files in it will be removed within two hours.';
    return { ok: true, lines: [line], result: {} };
  });
}

function exportManifest({ signal, json, flag, note }: Call): Promise<Outcome> {
  return withInstallation(signal, async ({ config, db }) => {
    const options: ExportOptions = { form: json ? 'json' : 'yaml', conversations: !flag('without-conversations') };
    const write = async (text: string): Promise<void> => {
      signal.throwIfAborted();
      if (!process.stdout.write(text)) await once(process.stdout, 'drain', { signal });
    };
    await exportInstallation({ config, db, secrets: keyRing(config) }, options, write, (loss) => note(`note: ${loss}`));
    return { ok: true };
  });
}

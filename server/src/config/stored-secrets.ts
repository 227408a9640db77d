import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../platform/make-folder.ts';
import { settingTable } from './settings-table.ts';

/** The two secrets that an installation without DATABASE_URL stores itself. */
export type StoredSecrets = { authSecret: string | undefined; encryptionKey: string | undefined };

const fileName = 'secrets.json';

/**
 * The secrets in `DATA_DIR/secrets.json` (contract.md section 2): a flat object with the two settings' names, mode
 * 0600. With `make`, a missing file is created; an existing one is never written. `problem` is a line for people.
 */
export function storedSecrets(dataDir: string, make: boolean): StoredSecrets | { problem: string } {
  const file = join(dataDir, fileName);
  try {
    const found = readSecrets(file);
    if (found !== undefined) return found;
    if (!make) return { problem: `${file} does not exist: check DATA_DIR, and start Homeport once` };
    makeSecrets(dataDir, file);
    return readSecrets(file) ?? { problem: `${file} vanished` };
  } catch (error) {
    if (error instanceof DamagedError) return { problem: error.message };
    return { problem: unusableDataDir(dataDir, error) };
  }
}

/** The line for people about a data folder that cannot be created or used. */
export function unusableDataDir(dataDir: string, error: unknown): string {
  return `DATA_DIR is ${JSON.stringify(dataDir)}; it takes a folder of your own (${codeOf(error)})`;
}

class DamagedError extends Error {}

function readSecrets(file: string): StoredSecrets | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw new DamagedError(`${file} cannot be read (${codeOf(error)})`);
  }
  const content = new Map(Object.entries(parseObject(file, text)));
  return {
    authSecret: checked(file, content, settingTable.authSecret),
    encryptionKey: checked(file, content, settingTable.encryptionKey),
  };
}

function parseObject(file: string, text: string): object {
  try {
    const content: unknown = JSON.parse(text);
    if (typeof content === 'object' && content !== null && !Array.isArray(content)) return content;
  } catch {
    // The parser's message would quote the content.
  }
  throw damaged(file);
}

function checked(
  file: string,
  content: ReadonlyMap<string, unknown>,
  { name, parse }: typeof settingTable.authSecret,
): string | undefined {
  const value = content.get(name);
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || parse(value) === undefined) throw damaged(file);
  return value;
}

function damaged(file: string): DamagedError {
  return new DamagedError(
    `${file} is damaged; restore it from a backup. Without its key, stored credentials cannot be read`,
  );
}

/**
 * Creates the file completely or not at all, and only if there is none: of several processes that start at once, one
 * succeeds.
 */
function makeSecrets(dataDir: string, file: string): void {
  makeFolder(dataDir, 0o700);
  const names = [settingTable.authSecret.name, settingTable.encryptionKey.name];
  const secrets = Object.fromEntries(names.map((name) => [name, randomBytes(32).toString('base64url')]));
  const draft = `${file}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
  try {
    writeFileSync(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(draft, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dataDir);
}

// A credential can be sealed with the new key a moment later, so the file's name must survive a power cut too.
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
}

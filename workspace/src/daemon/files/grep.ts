import { type ChildProcess, spawn } from 'node:child_process';
import { DaemonError } from '../daemon-error.ts';
import { close, itself, reopen } from './descriptors.ts';

/** `file` begins with `./` in a folder; `text` is cut to 500 characters. */
export type GrepLine = { file: string; line: number; text: string };

type Grep = {
  /** The folder or file to search, held; grep gets a descriptor of it, never a path. */
  held: number;
  isFile: boolean;
  pattern: string;
  timeMs: number;
  /** False ends it. */
  take: (line: GrepLine) => boolean;
  signal: AbortSignal;
};

const outputBytesMax = 16 * 1024 * 1024;
const textMax = 500;
const fieldBytesMax = 8 * 1024;

/** Runs grep; true when it did not come to its end. Throws `invalid_request` for a pattern that it does not understand. */
export async function runGrep({ held, isFile, pattern, timeMs, take, signal }: Grep): Promise<boolean> {
  const descriptor = reopen(held);
  const where = isFile ? ['--', '-'] : ['-r', '--devices=skip', '--exclude-dir=.git', '--', '.'];
  let child: ChildProcess;
  try {
    child = spawn('grep', ['-nIHE', '--null', '--color=never', '-e', pattern, ...where], {
      cwd: isFile ? '/' : itself(descriptor),
      stdio: [isFile ? descriptor : 'ignore', 'pipe', 'pipe'],
      env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
    });
  } finally {
    close(descriptor);
  }
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  const kill = () => child.kill('SIGKILL');
  const timer = setTimeout(kill, timeMs);
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
    // It also ends with 2 when something could not be read; then it does not speak of itself.
    if (exitCode === 2 && /^grep: [^:]*$/m.test(Buffer.concat(complaint).toString('utf8')) && !reader.hasRead) {
      throw new DaemonError('invalid_request', 'The pattern is no extended regular expression');
    }
    return isEnough || exitCode === null;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
  }
}

/** Reads `name NUL number : text newline` with little memory, whatever comes. */
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

  /** False when there is enough. */
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
    // A copy: what is kept must not keep the whole chunk.
    if (kept.length > 0) this.#fields[this.#field]?.push(Buffer.from(kept));
  }

  #finish(): boolean {
    const [file = '', line = '', text = ''] = this.#fields.map((parts) => Buffer.concat(parts).toString('utf8'));
    for (const parts of this.#fields) parts.length = 0;
    return this.#take({ file, line: Number(line), text: [...text].slice(0, textMax).join('') });
  }
}

import { systemClock, type Timer } from '../../platform/clock.ts';
import { plainOutput } from '../../workspaces/plain-output.ts';
import type { ReadOnlyRun } from './rules/rule-judge.ts';

/** Output of a command as a model gets to see it, and as it is shown while it runs. */

const partBytes = 16 * 1024;
const shownBytes = 4 * 1024;
const lineMax = 2_000;

/** An open line with more characters than this is taken as ended. */
const openLineMax = 64 * 1024;

/** Buffer that keeps the first and last 16 KiB of a text that arrives in pieces, as a terminal would show it. */
export class CommandOutput {
  /** The line that has not ended: a carriage return can still replace it. */
  #open = '';
  #head = '';
  #headBytes = 0;
  #tail = '';
  #bytes = 0;

  add(text: string): void {
    const ended = text.lastIndexOf('\n') + 1;
    if (ended > 0) this.#keep(plainOutput(this.#open + text.slice(0, ended)));
    this.#open = ended > 0 ? text.slice(ended) : this.#open + text;
    if (this.#open.length <= openLineMax) return;
    // Text that carriage returns have replaced is dropped first.
    const shown = plainOutput(this.#open);
    const isRewritten = shown.length <= openLineMax / 2;
    this.#open = isRewritten ? shown : '';
    if (!isRewritten) this.#keep(shown);
  }

  #keep(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#bytes += bytes;
    const available = partBytes - this.#headBytes;
    const forHead = this.#tail === '' ? firstBytes(text, available) : '';
    this.#head += forHead;
    this.#headBytes += Buffer.byteLength(forHead);
    this.#tail += text.slice(forHead.length);
    if (this.#tail.length > 4 * partBytes) this.#tail = lastBytes(this.#tail, partBytes);
  }

  /** Output for the model: long lines are cut, and a note about omitted output names the path of the log. */
  read(logPath: string): string {
    if (this.#open !== '') this.#keep(plainOutput(this.#open));
    this.#open = '';
    const tail = lastBytes(this.#tail, partBytes);
    const omitted = this.#bytes - this.#headBytes - Buffer.byteLength(tail);
    if (omitted === 0) return legible(this.#head + tail);
    const note = `[omitted ${omitted} bytes; full log in ${logPath}]`;
    return `${legible(this.#head)}\n${note}\n${legible(tail)}`;
  }

  /** The last 4 KiB, from the beginning of a line where there is one. */
  tail(): string {
    const ended = this.#tail === '' ? this.#head : this.#head.slice(-shownBytes) + this.#tail;
    const open = plainOutput(this.#open);
    const text = lastBytes(ended + open, shownBytes);
    if (Buffer.byteLength(text) < this.#bytes + Buffer.byteLength(open)) return text.slice(text.indexOf('\n') + 1);
    return text;
  }
}

/** Error texts of programs that a read-only run kept from doing something. */
const refusals = /permission denied|operation not permitted|read-only file system|EACCES|EPERM|inappropriate ioctl/i;

/** Adds a note that the command ran read-only if that can be the cause of its failure. */
export function withReadOnlyNote(
  text: string,
  { exitCode }: { exitCode: number | null },
  readOnly: ReadOnlyRun | undefined,
): string {
  const mayBeWhy = exitCode === null || exitCode > 1 || refusals.test(text);
  if (readOnly === undefined || !mayBeWhy) return text;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${readOnlyText(readOnly)}`;
}

export function readOnlyText({ canAsk }: ReadOnlyRun): string {
  const what = 'it could not write files, open connections or signal processes';
  return canAsk
    ? `[This command was not approved, so it ran read-only: ${what}. If it needs more, call again with askFirst: true to ask the person.]`
    : `[The person has set Read only, so this command ran read-only: ${what}.]`;
}

/** Without a line longer than 2,000 characters. */
function legible(text: string): string {
  return text.split('\n').map(cutLine).join('\n');
}

export function cutLine(line: string): string {
  if (line.length <= lineMax) return line;
  return `${line.slice(0, lineMax).toWellFormed()} [line cut: ${line.length - lineMax} more characters]`;
}

/** The beginning of the text, whole characters of at most so many bytes. */
function firstBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const cut = Buffer.from(text).subarray(0, Math.max(0, bytes));
  return cut.toString().replace(/\uFFFD{1,3}$/, '');
}

function lastBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  return Buffer.from(text)
    .subarray(-bytes)
    .toString()
    .replace(/^\uFFFD{1,3}/, '');
}

/** Milliseconds between two reports of a command that runs for so long already. */
function pauseAfter(runningMs: number): number {
  if (runningMs < 10_000) return 300;
  return runningMs < 60_000 ? 1_000 : 5_000;
}

/** Calls `report` after a change, less often as time passes; never after `stop`. */
export function reportChanges(report: () => void): { changed(): void; stop(): void } {
  const startedAt = systemClock.elapsed();
  let timer: Timer | undefined;
  let isStopped = false;
  let reportedAt = startedAt;
  return {
    changed() {
      if (timer !== undefined || isStopped) return;
      const now = systemClock.elapsed();
      const due = reportedAt + pauseAfter(now - startedAt) - now;
      timer = systemClock.after(Math.max(0, due), () => {
        timer = undefined;
        reportedAt = systemClock.elapsed();
        report();
      });
    },
    stop() {
      isStopped = true;
      timer?.stop();
    },
  };
}

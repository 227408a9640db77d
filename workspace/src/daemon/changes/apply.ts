import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { errnoOf } from '../file-system/system-errors.ts';
import type { Blobs } from './blobs.ts';
import { ancestorsOf, isKept, isSame, type State } from './entry.ts';
import type { Change, TurnRecord } from './records.ts';
import { versionAt } from './scan.ts';

/** How many paths are worked on between two turns of the event loop. */
const pathsAtOnce = 50;
/** Mode of a new folder until it is filled. A folder created by another process keeps its own. */
const madeMode = 0o700;
/** Permissions added to the mode of a folder while the undo writes in it. */
const openMode = 0o700;

export type Direction = 'undo' | 'redo';
export type Wish = { direction: Direction; paths: readonly string[] | undefined; force: boolean };
/**
 * With `conflicts` nothing was written: these paths were changed since the turn. `skipped` gives the reason why a path
 * was left as it is; a path changed since its comparison is `in_the_way`.
 */
export type Applied = {
  applied: number;
  conflicts: string[];
  skipped: { path: string; reason: 'not_kept' | 'in_the_way' | 'failed' }[];
};

type Needs = {
  home: string;
  blobs: Blobs;
  record: TurnRecord;
  stateOf: (path: string) => Promise<State>;
  /** Keeps what has been noted in the record. */
  save: () => void;
};
type Step = { path: string; change: Change; target: State; expected: State; version: string; now: State };

/**
 * Brings the turn's paths to how they were before it (undo) or after it (redo). All are compared first, and each once
 * more before its atomic change, so an interrupted call can be repeated. With `force`, the current version of a path
 * replaces the expected one in the record: the opposite direction restores it.
 */
export async function applyChanges(needs: Needs, wish: Wish): Promise<Applied> {
  const steps = await readSteps(needs, wish);
  const open = steps.filter(({ now, target }) => !isSame(now, target));
  const applied: Applied = { applied: 0, conflicts: [], skipped: [] };
  const going = new Set(steps.filter(({ target }) => target === null).map(({ path }) => path));
  if (!wish.force)
    applied.conflicts = open.filter((step) => isConflict(needs.home, step, going)).map(({ path }) => path);
  if (applied.conflicts.length > 0) return applied;
  const skip = (path: string, reason: Applied['skipped'][number]['reason']): void => {
    applied.skipped.push({ path, reason });
  };
  const able = open.filter(({ path, target, now, expected }) => {
    const isLost = target?.type === 'file' && !(isKept(target.content) && needs.blobs.has(target.content));
    const wouldLose = !isSame(now, expected) && now?.type === 'file' && !isKept(now.content);
    if (isLost || wouldLose) skip(path, 'not_kept');
    return !isLost && !wouldLose;
  });
  const side = wish.direction === 'undo' ? 'after' : 'before';
  const given = new Set(able.filter(({ now, expected }) => !isSame(now, expected) && now?.type !== 'directory'));
  for (const step of given) step.change[side] = step.now;
  // Saved before any write: after a crash the record must name the replaced versions.
  if (given.size > 0) needs.save();
  const leave = (step: Step, reason: Applied['skipped'][number]['reason']): void => {
    skip(step.path, reason);
    if (given.has(step)) step.change[side] = step.expected;
  };
  const modes = new Map<string, number>();
  for (const [index, step] of inOrder(able).entries()) {
    if (index % pathsAtOnce === 0) await setImmediate();
    try {
      const problem = await applyStep(needs, step, modes);
      if (problem === undefined) applied.applied += 1;
      else leave(step, problem);
    } catch (error) {
      leave(step, ['ENOTEMPTY', 'ENOTDIR', 'EISDIR', 'EEXIST'].includes(errnoOf(error)) ? 'in_the_way' : 'failed');
    }
  }
  setModes(needs.home, able, modes);
  return applied;
}

async function readSteps({ home, record, stateOf }: Needs, { direction, paths }: Wish): Promise<Step[]> {
  const chosen = paths === undefined ? [...record.files] : chosenOf(record, paths);
  const steps: Step[] = [];
  for (const [path, change] of chosen) {
    const [target, expected] = direction === 'undo' ? [change.before, change.after] : [change.after, change.before];
    const version = versionAt(home, path);
    steps.push({ path, change, target, expected, version, now: await stateOf(path) });
    if (steps.length % pathsAtOnce === 0) await setImmediate();
  }
  return steps;
}

/** The requested paths, all paths below them, and their parent folders. */
function chosenOf({ files }: TurnRecord, paths: readonly string[]): [string, Change][] {
  const asked = new Set(paths);
  const leading = new Set(paths.flatMap(ancestorsOf));
  return [...files].filter(
    ([path, { before, after }]) =>
      [path, ...ancestorsOf(path), ''].some((folder) => asked.has(folder)) ||
      (leading.has(path) && before?.type !== after?.type),
  );
}

/** Folders are not a conflict: they are removed only when empty, and created only as parents. */
function isConflict(home: string, { path, change, target, expected, now }: Step, going: ReadonlySet<string>): boolean {
  const isFolder = (state: State): boolean => state === null || state.type === 'directory';
  if (isFolder(target) && isFolder(expected) && isFolder(now)) return false;
  if (target !== null && target.type !== 'directory' && now?.type === 'directory')
    return !isSame(now, expected) || !isEmptyWithout(home, path, going);
  return change.isMixed || !isSame(now, expected);
}

function isEmptyWithout(home: string, folder: string, going: ReadonlySet<string>): boolean {
  return readdirSync(join(home, folder), { withFileTypes: true }).every((entry) => {
    const path = `${folder}/${entry.name}`;
    return going.has(path) && (!entry.isDirectory() || isEmptyWithout(home, path, going));
  });
}

/** Orders the steps: removals first, the innermost first; then additions, folders before their content. */
function inOrder(steps: readonly Step[]): Step[] {
  const depth = ({ path }: Step): number => path.split('/').length;
  const going = steps.filter(({ target }) => target === null).sort((a, b) => depth(b) - depth(a));
  const coming = steps.filter(({ target }) => target !== null).sort((a, b) => depth(a) - depth(b));
  return [...going, ...coming];
}

async function applyStep(
  { home, blobs }: Needs,
  step: Step,
  modes: Map<string, number>,
): Promise<'not_kept' | 'in_the_way' | undefined> {
  const { target } = step;
  if (target === null || target.type === 'directory') return putStep(home, step, undefined, modes);
  const made = blobs.temporaryPath();
  try {
    if (target.type === 'symlink') symlinkSync(target.target, made);
    else if (!(await blobs.restore(target.content, made))) return 'not_kept';
    else chmodSync(made, target.mode);
    return putStep(home, step, made, modes);
  } finally {
    rmSync(made, { force: true });
  }
}

/** Puts `made` in place. Compares and writes without awaiting anything, so that no request writes in between. */
function putStep(
  home: string,
  { path, target, version, now }: Step,
  made: string | undefined,
  modes: Map<string, number>,
): 'in_the_way' | undefined {
  const place = join(home, path);
  if (ancestorsOf(path).some((folder) => !isFolder(join(home, folder))))
    return target === null ? undefined : 'in_the_way';
  if (versionAt(home, path) !== version) return 'in_the_way';
  if (target?.type === 'directory' && now?.type === 'directory') return undefined;
  openFolder(home, path, modes);
  if (now?.type === 'directory') rmdirSync(place);
  else if (made === undefined && now !== null) rmSync(place, { force: true });
  if (made !== undefined) renameSync(made, place);
  else if (target !== null) mkdirSync(place, { mode: madeMode });
  return undefined;
}

/** Makes a read-only folder writable; `setModes` restores its mode. */
function openFolder(home: string, path: string, modes: Map<string, number>): void {
  const folder = dirname(path);
  if (folder === '.') return;
  const mode = lstatSync(join(home, folder)).mode & 0o7777;
  if ((mode & 0o300) === 0o300) return;
  modes.set(folder, mode);
  chmodSync(join(home, folder), mode | openMode);
}

/**
 * Sets the modes of folders, the innermost first, as a folder without permissions cannot be entered. A folder that
 * another process has created or changed since keeps its own.
 */
function setModes(home: string, steps: readonly Step[], opened: ReadonlyMap<string, number>): void {
  const wanted = new Map([...opened].map(([path, mode]) => [path, { mode, left: mode | openMode }]));
  for (const { path, target, expected, now } of steps) {
    if (target?.type !== 'directory') continue;
    const asMade = expected?.type === 'directory' ? expected.mode : madeMode;
    const was = now?.type === 'directory' ? now.mode : madeMode;
    if (now?.type !== 'directory' || was === asMade)
      wanted.set(path, { mode: target.mode, left: wanted.get(path)?.left ?? was });
  }
  for (const [path, { mode, left }] of [...wanted].sort(([a], [b]) => b.length - a.length)) {
    try {
      const stats = lstatSync(join(home, path));
      // A new folder may have inherited its group.
      if (stats.isDirectory() && (stats.mode & 0o777) === (left & 0o777)) chmodSync(join(home, path), mode);
    } catch {
      // Another process has replaced it.
    }
  }
}

function isFolder(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}

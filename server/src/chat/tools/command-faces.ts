import { type CommandPart, type CommandWord, readCommand } from './command-parts.ts';

/**
 * What a part of a command may be for a pattern: itself, without the folder of its program, and what it makes another
 * program run (`sudo`, `xargs`, `sh -c`). `isOpen`: it goes on, nobody knows how.
 */
export type CommandFace = { text: string; isOpen: boolean };

/** Programs that run the command in their arguments. */
const runners = new Set(
  `sudo doas env nohup nice ionice chrt taskset time timeout command builtin exec coproc setsid stdbuf unbuffer strace ltrace
  unshare nsenter chroot fakeroot proot bwrap firejail setpriv runuser su busybox toybox xargs parallel find fd entr flock watch
  script ssh systemd-run`.split(/\s+/),
);
/** What else they run is in their input, or made of what they find. */
const appenders = new Set(['xargs', 'parallel', 'find', 'fd', 'entr', 'ssh']);
const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'fish', 'rbash']);
/** Programs that take code of the shell as an argument. */
const codeTakers = new Set([
  'eval',
  'trap',
  'su',
  'runuser',
  'watch',
  'script',
  'flock',
  'parallel',
  'ssh',
  'env',
  'xargs',
]);

/**
 * Characters that the faces of one command may still have, with those read to find them; less than none: there are
 * more.
 */
export type FaceRoom = { left: number };

const anything: CommandFace = { text: '', isOpen: true };
const faceCost = 16;
const textMax = 4_000;
const runnerWordsMax = 40;
const depthMax = 4;

/** The first is the part as it is written. When there is no room left, the others are not all here. */
export function facesOf({ words }: CommandPart, room: FaceRoom, depth = 0): CommandFace[] {
  const [program] = words;
  if (program === undefined) return [];
  if (program.isOpen || depth > depthMax || room.left < 0) return [anything];
  const name = baseName(program.text);
  const faces = [join(words)];
  if (name !== program.text) faces.push(join([{ ...program, text: name }, ...words.slice(1)]));
  for (const { text } of faces) room.left -= text.length + faceCost;
  faces.push(...innerFaces(name, words.slice(1), room, depth));
  if (!runners.has(name)) return faces;
  if (words.length > runnerWordsMax) return [...faces, anything];
  const isAppended = appenders.has(name);
  for (const [index, word] of words.entries()) {
    if (room.left < 0) return [...faces, anything];
    if (index === 0 || (word.text.startsWith('-') && !word.isOpen)) continue;
    if (word.isOpen) {
      faces.push(anything);
      continue;
    }
    const rest = words.slice(index);
    const inner = baseName(word.text);
    const named = join([{ ...word, text: inner }, ...rest.slice(1)]);
    for (const face of inner === word.text ? [named] : [join(rest), named]) {
      room.left -= face.text.length + faceCost;
      faces.push(isAppended ? { text: face.isOpen ? face.text : `${face.text} `, isOpen: true } : face);
    }
    faces.push(...innerFaces(inner, rest.slice(1), room, depth));
  }
  return faces;
}

/** What the arguments of a shell, or of another program that takes its code, make it run. */
function innerFaces(name: string, given: readonly CommandWord[], room: FaceRoom, depth: number): CommandFace[] {
  const [first] = given;
  if (shells.has(name)) {
    if (first === undefined || first.isOpen) return [anything];
    // A script in a file is a program as any other.
    if (!first.text.startsWith('-')) return first.text.startsWith('/dev/') ? [anything] : [];
    if (first.text === '--version') return [];
    return /^-[a-z]*c$/.test(first.text) ? given.slice(1).flatMap((word) => ofCode(word, room, depth)) : [anything];
  }
  if (name === '.' || name === 'source') {
    return first === undefined || first.isOpen || first.text.startsWith('/dev/') ? [anything] : [];
  }
  if (!codeTakers.has(name)) return [];
  if (name === 'eval') {
    if (given.some(({ isOpen }) => isOpen)) return [anything];
    return ofCode({ text: given.map(({ text }) => text).join(' '), isOpen: false, isBare: false }, room, depth);
  }
  return given.flatMap((word) => (word.isOpen || /[\s;&|`$<>()]/.test(word.text) ? ofCode(word, room, depth) : []));
}

function ofCode(word: CommandWord, room: FaceRoom, depth: number): CommandFace[] {
  room.left -= word.text.length + faceCost;
  if (word.isOpen || depth >= depthMax || room.left < 0) return [anything];
  const { parts, isWhole } = readCommand(word.text);
  return [...parts.flatMap((part) => facesOf(part, room, depth + 1)), ...(isWhole ? [] : [anything])];
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function join(words: readonly CommandWord[]): CommandFace {
  const open = words.findIndex(({ isOpen }) => isOpen);
  const known = open === -1 ? words : words.slice(0, open + 1);
  const text = known.map((word) => word.text).join(' ');
  return text.length > textMax ? { text: text.slice(0, textMax), isOpen: true } : { text, isOpen: open !== -1 };
}

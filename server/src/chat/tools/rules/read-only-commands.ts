import type { CommandPart, CommandWord } from './command-parts.ts';

/** Programs that only read, with any arguments. */
const readers = new Set(
  `ls cat head tail wc grep egrep fgrep cut tr nl tac rev comm diff cmp stat du df pwd cd echo printf true false test [ [[
  basename dirname realpath readlink whoami id uname printenv which type jq md5sum sha1sum sha256sum sha512sum cksum b2sum od
  hexdump strings column fold expand seq sleep ps free uptime nproc lscpu for : wait exit`.split(/\s+/),
);

/** Programs that only read without these arguments; those whose arguments are not all known may do more. */
const readersWithout = new Map<string, RegExp>([
  ['find', /^-(?:exec|ok|delete|fprint|fls|files0-from)/],
  ['sort', /^(?:-[A-Za-z]*[oT]|--(?:o|c|t))/],
  ['rg', /^(?:--pre|--hostname-bin|--search-zip|-[a-zA-Z]*z)/],
  ['tree', /^(?:-[A-Za-z]*o|--output)/],
  ['file', /^(?:-[A-Za-z]*C|--c)/],
  ['date', /^(?:-[A-Za-z]*s|--s)/],
]);
/** Programs that can only read and print, given words that are known. */
const inert = new Set('cd pwd echo true false : cat head tail wc grep'.split(' '));
const gitReaders = new Set(
  'status log diff show ls-files ls-tree rev-parse blame describe shortlog cat-file'.split(' '),
);
const gitWriters = /^(?:--output|--ext-diff|--textconv|--open-files|--filters|-O)/;
const versioned = new Set('python python3 node npm npx git pip pip3 cargo go rustc java gcc make pnpm yarn'.split(' '));

/**
 * True for a part that can do nothing but read and print, so that it can run together with parts that a rule allows.
 */
export function isInert({ words, assigns, writes }: CommandPart): boolean {
  return !assigns && !writes && words.every(({ isOpen }) => !isOpen) && inert.has(words[0]?.text ?? '');
}

/**
 * True for a part of a command that seems to only read, so that no approval is requested. A convenience, not a
 * boundary: such commands run in a read-only sandbox, and a wrong guess costs a question.
 */
export function onlyReads({ words, assigns, writes }: CommandPart): boolean {
  const [program, ...given] = words;
  if (words.length === 0) return assigns && !writes;
  if (writes || program === undefined || program.isOpen || assigns) return false;
  const { text: name } = program;
  if (readers.has(name)) return true;
  if (given.some(({ isOpen }) => isOpen)) return false;
  const [first] = given;
  if (versioned.has(name) && given.length === 1 && first?.text === '--version') return true;
  if (name === 'git') return gitReaders.has(first?.text ?? '') && !given.some(({ text }) => gitWriters.test(text));
  if (name === 'uniq') return operandsOf(given).length < 2;
  if (name === 'command') return first?.text === '-v';
  if (name === 'sed') return printsLines(given);
  const refused = readersWithout.get(name);
  return refused !== undefined && !given.some(({ text }) => refused.test(text));
}

/** Words that are no options; after `--`, all are. */
function operandsOf(given: readonly CommandWord[]): CommandWord[] {
  const end = given.findIndex(({ text }) => text === '--');
  return given.filter(({ text }, index) => !text.startsWith('-') || (end !== -1 && index > end));
}

function printsLines([option, script, ...files]: readonly CommandWord[]): boolean {
  if (files.some(({ text }) => text.startsWith('-'))) return false;
  return option?.text === '-n' && script !== undefined && /^[\d,$]+p$/.test(script.text);
}

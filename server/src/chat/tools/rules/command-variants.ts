import { codeVariable } from './command-arithmetic.ts';
import { type CommandPart, type CommandWord, readCommand } from './command-parts.ts';

/**
 * One form in which a pattern can match a part of a command: the part itself, the part without the folder of its
 * program, and commands that it makes another program run (`sudo`, `xargs`, `sh -c`). `isOpen`: its end is unknown.
 * `isGuess`: it can also be something else, because options are unknown.
 */
export type CommandVariant = { text: string; isOpen: boolean; isGuess?: boolean };

/** Programs that run the command in their arguments. */
const runners = new Set(
  `sudo doas env nohup nice ionice chrt taskset time timeout command builtin exec coproc setsid stdbuf unbuffer strace ltrace
  unshare nsenter chroot fakeroot proot bwrap firejail setpriv runuser su busybox toybox xargs parallel find fd entr flock watch
  script ssh systemd-run`.split(/\s+/),
);
/** Programs that take further commands from their input or build them from files they find. */
const appenders = new Set(['xargs', 'parallel', 'find', 'fd', 'entr', 'ssh']);
const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'fish', 'rbash']);
/** Programs that take code of the shell as an argument. */
const codeTakers = new Set('su runuser watch script flock parallel ssh env xargs'.split(' '));
/** Builtins whose arguments can be code. */
const evaluators = new Set('trap mapfile readarray compgen complete'.split(' '));
/** Builtins that give a name another meaning, with the arguments that do. */
const renamers = new Map([
  ['alias', /=/],
  ['hash', /^-[a-z]*p/],
  ['enable', /^-[a-z]*f/],
  ['bind', /^-[a-z]*x/],
  ['fc', /./],
]);
const codeAssignment = new RegExp(`^${codeVariable}\\+?=`);

/**
 * Characters that the variants of one command may still have, with those read to find them; less than none: there are
 * more.
 */
export type VariantBudget = { left: number };

const anything: CommandVariant = { text: '', isOpen: true };
const variantCost = 16;
const textMax = 4_000;
const runnerWordsMax = 40;
const depthMax = 4;
/** Letters of a group of short options that can be followed by the value of the last. */
const groupMax = 5;

/** The first is the part as it is written. When there is no room left, the others are not all here. */
export function variantsOf({ words, assigned }: CommandPart, budget: VariantBudget, depth = 0): CommandVariant[] {
  const set = [...assigned, ...words].flatMap((word) => variableVariants(word, budget, depth));
  const [program] = words;
  if (program === undefined) return assigned.length === 0 ? [] : [join(assigned), ...set];
  if (program.isOpen || depth > depthMax || budget.left < 0) return [anything];
  const name = baseName(program.text);
  const variants = [...ownVariants(words, budget), ...set, ...innerVariants(name, words.slice(1), budget, depth)];
  return runners.has(name) ? [...variants, ...runnerVariants(name, words, budget, depth)] : variants;
}

/** As written, without the folder of the program, and without the options before a subcommand. */
function ownVariants(words: readonly CommandWord[], budget: VariantBudget): CommandVariant[] {
  const [program, ...given] = words;
  if (program === undefined) return [];
  const name = { ...program, text: baseName(program.text) };
  const variants = [join(words)];
  if (name.text !== program.text) variants.push(join([name, ...given]));
  if (name.text.startsWith('git-')) variants.push(join([{ ...name, text: name.text.replace('-', ' ') }, ...given]));
  if (name.text === 'git' && given.some(({ text }) => /^(?:-c)?alias\.|=alias\.|config-env/i.test(text))) {
    variants.push({ text: 'git ', isOpen: true });
  }
  const isGit = name.text === 'git';
  const starts = isGit ? gitSubcommand(given) : subcommandStarts(given);
  for (const start of starts) variants.push({ ...join([name, ...given.slice(start)]), isGuess: !isGit });
  for (const { text } of variants) budget.left -= text.length + variantCost;
  return variants;
}

const gitOptions = /^(?:-[Cc]|--(?:git-dir|work-tree|namespace|super-prefix|config-env|attr-source|list-cmds))$/;

/** Returns the index of the `git` subcommand after leading options. */
function gitSubcommand(given: readonly CommandWord[]): number[] {
  let at = 0;
  while (given[at]?.text.startsWith('-')) at += gitOptions.test(given[at]?.text ?? '') ? 2 : 1;
  return at === 0 || at >= given.length ? [] : [at];
}

/** Returns the possible indexes of the subcommand after leading options, each of which can take one value. */
function subcommandStarts(given: readonly CommandWord[]): number[] {
  const starts: number[] = [];
  if (given[0]?.text.startsWith('-') !== true) return starts;
  let mayBeValue = false;
  for (const [index, { text }] of given.slice(0, runnerWordsMax).entries()) {
    if (text.startsWith('-')) {
      mayBeValue = true;
      continue;
    }
    starts.push(index);
    if (!mayBeValue) return starts;
    mayBeValue = false;
  }
  return starts;
}

/** Returns the commands that a program runs if each word can be the first of one. */
function runnerVariants(
  name: string,
  words: readonly CommandWord[],
  budget: VariantBudget,
  depth: number,
): CommandVariant[] {
  if (words.length > runnerWordsMax) return [anything];
  const isAppended = appenders.has(name);
  const template = isAppended ? templateOf(name, words) : words;
  const variants: CommandVariant[] = [];
  if (name === 'parallel' && template.every((word, index) => index === 0 || word.text.startsWith('-'))) {
    variants.push(anything);
  }
  for (const [index, word] of template.entries()) {
    if (budget.left < 0) return [...variants, anything];
    if (index === 0) continue;
    const rest = template.slice(index);
    if (word.isOpen && !word.text.startsWith('-')) variants.push(anything);
    else if (word.text.startsWith('-')) variants.push(...optionVariants(name, rest, budget, depth));
    else {
      const inner = baseName(word.text);
      for (const variant of ownVariants(rest, budget)) variants.push(isAppended ? continued(variant) : variant);
      variants.push(...innerVariants(inner, rest.slice(1), budget, depth));
    }
  }
  // The arguments of `parallel` after the template can be commands themselves.
  for (const word of words.slice(template.length)) variants.push(...ofCode(word, budget, depth));
  return variants;
}

function continued(variant: CommandVariant): CommandVariant {
  return { ...variant, text: variant.isOpen ? variant.text : `${variant.text} `, isOpen: true };
}

/** The words before the arguments of `parallel`, each open from where something is put in. */
function templateOf(name: string, words: readonly CommandWord[]): CommandWord[] {
  const end = name === 'parallel' ? words.findIndex(({ text }) => /^:::/.test(text)) : -1;
  const template = words.slice(0, end === -1 ? undefined : end);
  const marks = ['{'];
  for (const [index, { text }] of template.entries()) {
    const [, given] = /^(?:-[a-zA-Z0-9]*?[IiU]|--(?:replace|rpl)=?)(.*)$/s.exec(text) ?? [];
    if (given !== undefined && index > 0 && name !== 'find') marks.push(given, template[index + 1]?.text ?? '');
  }
  return template.map((word, index) => {
    const places = marks.filter((mark) => mark !== '').map((mark) => word.text.indexOf(mark));
    const first = Math.min(...places.filter((place) => place !== -1));
    if (index === 0 || word.text.startsWith('-') || !Number.isFinite(first)) return word;
    return { ...word, text: word.text.slice(0, first), isOpen: true };
  });
}

/** The command that an option of a runner may hold, with the words after it: `env -S'git push'`, `su -creboot`. */
function optionVariants(
  name: string,
  [option, ...rest]: readonly CommandWord[],
  budget: VariantBudget,
  depth: number,
): CommandVariant[] {
  if (option === undefined || name === 'find') return [];
  if (option.isOpen) return codeTakers.has(name) ? [anything] : [];
  const values = /^--[^=]*=(.+)$/s.exec(option.text)?.slice(1) ?? [];
  if (!option.text.startsWith('--')) {
    for (let at = 2; at < Math.min(option.text.length, groupMax); at += 1) values.push(option.text.slice(at));
  }
  if (name === 'env' && values.some((value) => /[\\$]/.test(value))) return [anything];
  return values.flatMap((value) => {
    budget.left -= value.length + variantCost;
    if (budget.left < 0) return [anything];
    const { parts, isWhole } = readCommand(value);
    const last = parts.at(-1);
    const longer = last === undefined ? parts : [...parts.slice(0, -1), { ...last, words: [...last.words, ...rest] }];
    return [...longer.flatMap((part) => variantsOf(part, budget, depth + 1)), ...(isWhole ? [] : [anything])];
  });
}

/** The code in the value of a variable that is run. */
function variableVariants(word: CommandWord, budget: VariantBudget, depth: number): CommandVariant[] {
  const found = codeAssignment.exec(word.text);
  if (found === null) return [];
  const value = word.text.slice(found[0].length);
  const known: CommandVariant[] = word.text.startsWith('GIT_CONFIG') ? [{ text: 'git ', isOpen: true }] : [];
  return [...known, ...ofCode({ ...word, text: value }, budget, depth)];
}

/** Returns the commands that a shell, or another program that takes code, runs from its arguments. */
function innerVariants(
  name: string,
  given: readonly CommandWord[],
  budget: VariantBudget,
  depth: number,
): CommandVariant[] {
  const [first] = given;
  if (shells.has(name)) return shellVariants(given, budget, depth);
  if (name === '.' || name === 'source') {
    return first === undefined || first.isOpen || first.text.startsWith('/dev/') ? [anything] : [];
  }
  if (name === 'eval') {
    if (given.some(({ isOpen }) => isOpen)) return [anything];
    const text = given.map((word) => word.text).join(' ');
    return ofCode({ text, isOpen: false, isBare: false }, budget, depth);
  }
  const renames = renamers.get(name);
  if (renames !== undefined) return given.some((word) => word.isOpen || renames.test(word.text)) ? [anything] : [];
  if (evaluators.has(name)) {
    return given.flatMap((word) => [
      ...ofCode(word, budget, depth),
      ...(/^-./.test(word.text) && !word.isOpen ? ofCode({ ...word, text: word.text.slice(2) }, budget, depth) : []),
    ]);
  }
  if (name === 'git') return given.flatMap((word) => gitConfigVariants(word, budget, depth));
  if (!codeTakers.has(name)) return [];
  return given.flatMap((word) => {
    if (!word.isOpen && !/[\s;&|`$<>()=]/.test(word.text)) return [];
    const value = /^[\w.-]+=(.*)$/s.exec(word.text)?.[1];
    const values = value === undefined || word.isOpen ? [] : ofCode({ ...word, text: value }, budget, depth);
    return [...ofCode(word, budget, depth), ...values].map((variant) =>
      name === 'env' ? variant : openAtMark(variant),
    );
  });
}

/** `-c core.pager='…'` and an alias that begins with `!` are commands. */
function gitConfigVariants(word: CommandWord, budget: VariantBudget, depth: number): CommandVariant[] {
  const value = /^(?:-c|--config=)?[A-Za-z][\w-]*\.[^=\s]+=!?(.*)$/s.exec(word.text)?.[1];
  return value === undefined ? [] : ofCode({ ...word, text: value }, budget, depth);
}

function openAtMark(variant: CommandVariant): CommandVariant {
  const at = variant.text.indexOf('{');
  return at === -1 ? variant : { ...variant, text: variant.text.slice(0, at), isOpen: true };
}

function shellVariants(given: readonly CommandWord[], budget: VariantBudget, depth: number): CommandVariant[] {
  let hasCode = false;
  for (let at = 0; at < given.length; at += 1) {
    const { text, isOpen } = given[at] ?? { text: '', isOpen: true };
    if (isOpen) return [anything];
    if (text === '--version' || text === '--help') return [];
    const isOption = /^[-+]./.test(text) && text !== '--';
    if (isOption) {
      if (/^--(?:rcfile|init-file)$/.test(text) || /^[-+][a-zA-Z]*[oO]$/.test(text)) at += 1;
      if (/^--(?:command|init-command)/.test(text) || /^[-+][a-zA-Z]*[sC]/.test(text)) return [anything];
      if (/^-[a-zA-Z]*c/.test(text)) hasCode = true;
      continue;
    }
    if (text === '-') return [anything];
    const rest = given.slice(text === '--' ? at + 1 : at);
    if (hasCode) return rest.flatMap((word) => ofCode(word, budget, depth));
    // A script in a file is a program as any other.
    const [script] = rest;
    return script === undefined || script.isOpen || script.text.startsWith('/dev/') ? [anything] : [];
  }
  return [anything];
}

function ofCode(word: CommandWord, budget: VariantBudget, depth: number): CommandVariant[] {
  budget.left -= word.text.length + variantCost;
  if (word.isOpen || depth >= depthMax || budget.left < 0) return [anything];
  const { parts, isWhole } = readCommand(word.text);
  return [...parts.flatMap((part) => variantsOf(part, budget, depth + 1)), ...(isWhole ? [] : [anything])];
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function join(words: readonly CommandWord[]): CommandVariant {
  const open = words.findIndex(({ isOpen }) => isOpen);
  const known = open === -1 ? words : words.slice(0, open + 1);
  const text = known.map((word) => word.text).join(' ');
  return text.length > textMax ? { text: text.slice(0, textMax), isOpen: true } : { text, isOpen: open !== -1 };
}

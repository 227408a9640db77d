import type { CommandWord } from './command-parts.ts';

/**
 * The shell evaluates the values of variables in arithmetic and runs code in their subscripts: with `x='a[$(reboot)]'`,
 * `echo $((x))` reboots. So do builtins that take the name of a variable.
 */

/** Names of variables whose value some program or shell runs. */
export const codeVariable = String.raw`(?:PS[0-4]|PROMPT_COMMAND|(?:BASH_)?ENV|SHELL|VISUAL|BROWSER|\w*(?:PAGER|EDITOR|ASKPASS)|LESS(?:OPEN|CLOSE)|\w+_COMMAND|\w+_RSH|GIT_\w+|LD_\w+|BASH_FUNC\w*|TAR_OPTIONS|PERL5OPT)`;
const isCodeVariable = new RegExp(`^${codeVariable}$`);

/** Values that are numbers for certain. */
const number = String.raw`(?:-?\d+|"?\$\(\([^()]*\)\)"?|"?\$\((?:wc|seq|date|nproc|id)\b[^()]*\)"?|"?\$\{?#\w*\}?"?)`;
const item = String.raw`(?:-?\d+|\{\d+\.\.\d+\}|\$\(seq [^()]*\))`;
const readers =
  /\b(?:read|mapfile|readarray|getopts|declare|typeset|local|export|readonly|let|eval|unset|wait)\b|printf\s+-/;
const comparison = /^-(?:eq|ne|lt|le|gt|ge)$/;
const takesNames = new Set('read unset declare typeset local export readonly getopts mapfile readarray'.split(' '));
const namesMax = 20;

/** Whether an arithmetic expression within this command is made of numbers, and of variables that are. */
export function isPlainArithmetic(expression: string, command: string): boolean {
  if (/["'`\\]|\$\(/.test(expression)) return false;
  const names = new Set(expression.replace(/\b0[xX][0-9a-fA-F]+\b/g, '').match(/[A-Za-z_]\w*/g) ?? []);
  return names.size <= namesMax && [...names].every((name) => isNumeric(name, command));
}

/** The answers for the command that was looked at last. */
let looked: { command: string; names: Map<string, boolean> } = { command: '', names: new Map() };

function isNumeric(name: string, command: string): boolean {
  if (looked.command !== command) looked = { command, names: new Map() };
  const known = looked.names.get(name);
  if (known !== undefined || looked.names.size >= namesMax) return known ?? false;
  const found = isSetToNumbers(name, command);
  looked.names.set(name, found);
  return found;
}

/** Whether every place that sets it sets a number. Costs the length of the command. */
function isSetToNumbers(name: string, command: string): boolean {
  const count = (pattern: string): number => command.match(new RegExp(pattern, 'g'))?.length ?? 0;
  const set = count(String.raw`(?<![\w$])${name}(?:\[|\+?=)`);
  const loops = count(String.raw`\bfor\s+${name}\b`);
  if (set !== count(String.raw`(?<![\w$])${name}\+?=${number}(?=[\s;&|)"]|\$)`) || set + loops === 0) return false;
  if (loops !== count(String.raw`\bfor\s+${name}\s+in(?:\s+${item})+\s*[;\n]`)) return false;
  if (/(?<![^\s;|&({])(?:source|\.|eval)\s/.test(command)) return false;
  const uses = new RegExp(String.raw`\b${name}\b`);
  return !command.split(/[;|&\n]/).some((segment) => readers.test(segment) && uses.test(segment));
}

/** True if the text after the name in `${name…}` evaluates nothing but numbers. */
export function isPlainParameter(inside: string, command: string): boolean {
  if (/^![^}]*[^*@}]$/.test(inside)) return false;
  const subscript = /^[#!]?\w+\[([^\]]*)\]/.exec(inside)?.[1] ?? '';
  const slice = /^[#!]?(?:\w+|[@*#?$!-])(?:\[[^\]]*\])?:(?![-=+?])(.*)$/s.exec(inside)?.[1] ?? '';
  const isWhole = subscript === '@' || subscript === '*';
  return (isWhole || isPlainArithmetic(subscript, command)) && isPlainArithmetic(slice, command);
}

/** A word of a command with the text from which it was parsed. */
export type SourceWord = CommandWord & { source: string };

/** Whether a builtin may evaluate what its arguments hold. */
export function mayEvaluate(words: readonly SourceWord[], command: string): boolean {
  const [program, ...given] = words;
  const name = program?.text ?? '';
  if (name === 'let') return given.some(({ text, isOpen }) => isOpen || !isPlainArithmetic(text, command));
  if (name === '[[' || name === '[' || name === 'test') {
    return given.some((word, index) => {
      const [before, after] = [given[index - 1], given[index + 1]];
      if (word.text === '-v' || word.text === '-R') return after?.isOpen === true || /\[/.test(after?.text ?? '');
      if (name !== '[[' || !comparison.test(word.text)) return false;
      return [before, after].some((operand) => operand !== undefined && !isNumber(operand.source, command));
    });
  }
  if (name === 'for') return isCodeVariable.test(given[0]?.text ?? '');
  if (name === 'printf' || name === 'wait') {
    return given.some(({ text, isOpen }, index) => {
      const flag = name === 'printf' ? 'v' : 'p';
      if (!new RegExp(`^-[a-z]*${flag}`).test(text)) return false;
      const target = text.endsWith(flag) && !isOpen ? given[index + 1] : given[index];
      if (isCodeVariable.test(target?.text.replace(/^-v/, '') ?? '')) return true;
      return target?.isOpen === true || /\[/.test(target?.text ?? '');
    });
  }
  if (!takesNames.has(name)) return false;
  const isInteger = given.some(({ text }) => /^-[A-Za-z]*[in]/.test(text)) && /^(?:declare|typeset|local)$/.test(name);
  return given.some(({ text, isOpen }) => {
    const [variable = ''] = text.split('=');
    if (variable === text && name.startsWith('r') && isCodeVariable.test(variable)) return true;
    if (/\[[^\]]*[^\]\d]/.test(variable)) return true;
    return isOpen && (isInteger || !/^[A-Za-z_]\w*\+?=/.test(text));
  });
}

function isNumber(source: string, command: string): boolean {
  const bare = source.replace(/^"(.*)"$/s, '$1');
  if (/^(?:-?\d+|\$[#?$!]|\$\{#\w+\}|\$\((?:wc|seq|date|nproc|id)\b[^()]*\))$/.test(bare)) return true;
  const name = /^\$?\{?([A-Za-z_]\w*)\}?$/.exec(bare)?.[1];
  return name !== undefined && isNumeric(name, command);
}

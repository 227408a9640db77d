import { isPlainArithmetic, isPlainParameter, mayEvaluate, type SourceWord } from './command-arithmetic.ts';

/**
 * Parses a shell command as far as rules need it: the simple commands in it, at any depth, with their quotes removed.
 * It reports text that it does not understand and never guesses.
 */

/** `isOpen`: only the beginning is known, because the shell puts something in its place. `isBare`: without quotes. */
export type CommandWord = { text: string; isOpen: boolean; isBare: boolean };
/**
 * One simple command. `assigns`: variables are set in front of it, in `assigned` with their values. `writes`: output
 * goes to a file.
 */
export type CommandPart = { words: CommandWord[]; assigns: boolean; assigned: CommandWord[]; writes: boolean };
/** `isWhole` is false when something could not be read; the parts are those before it. */
export type CommandParts = { parts: CommandPart[]; isWhole: boolean };

const textMax = 32 * 1024;
const depthMax = 16;
const partsMax = 500;

class Unreadable extends Error {}

/** The parts of a command. Costs its length, and never throws. */
export function readCommand(text: string): CommandParts {
  const parts: CommandPart[] = [];
  try {
    if (text.length > textMax) throw new Unreadable();
    new CommandReader(text, parts, 0).readList();
    return { parts, isWhole: true };
  } catch (error) {
    if (error instanceof Unreadable) return { parts, isWhole: false };
    throw error;
  }
}

/** Keywords before a command, or at its end: a new command follows. */
const keywords = new Set(['if', 'then', 'else', 'elif', 'fi', 'while', 'until', 'do', 'done', '!', '{', '}']);
const unreadKeywords = new Set(['case', 'function', 'esac']);
const blank = /[ \t]/;
const ender = /[ \t\n;&|()<>]/;
const hereDelimiter = /[ \t]*(?:'([^'\n]+)'|"([^"\n$`\\]+)"|(\\?)([A-Za-z0-9_.+-]+))(?=[\s;&|)<>]|$)/y;
const arithmetic = /\$\(\([^()`'"\\]*\)\)/y;
const parameter = /\$(?:\{[#!]?(?:\w+(?!\w)|[@*#?$!-])(?:[^${}`'"\\()<>@]|@[^P])*\}|\w+|[@*#?$!-])/y;
/** Whether it has a subscript that the shell may evaluate later. Costs its length. */
function hasLateSubscript(text: string): boolean {
  return text.split(']').some((segment) => {
    const start = segment.indexOf('[');
    return start !== -1 && /\$\(|`/.test(segment.slice(start));
  });
}

class CommandReader {
  readonly #text: string;
  readonly #parts: CommandPart[];
  readonly #depth: number;
  readonly #hereDocuments: { delimiter: string; isQuoted: boolean; isIndented: boolean }[] = [];
  #at = 0;

  constructor(text: string, parts: CommandPart[], depth: number) {
    if (depth > depthMax) throw new Unreadable();
    this.#text = text;
    this.#parts = parts;
    this.#depth = depth;
  }

  /** Commands up to the end of the text, or to the closing parenthesis of a nested list. */
  readList(level = this.#depth, end?: ')'): void {
    if (level > depthMax) throw new Unreadable();
    for (;;) {
      this.#skipBlanks();
      const next = this.#text[this.#at];
      if (next === undefined) {
        if (end !== undefined || this.#hereDocuments.length > 0) throw new Unreadable();
        return;
      }
      if (next === '\n') this.#endLine();
      else if (next === '#') this.#skipComment();
      else if (next === ')') {
        if (end === undefined) throw new Unreadable();
        this.#at++;
        return;
      } else if (next === '(') {
        if (this.#text[this.#at + 1] === '(') throw new Unreadable();
        this.#at++;
        this.readList(level + 1, ')');
      } else if (next === ';' || next === '|' || (next === '&' && this.#text[this.#at + 1] !== '>'))
        this.#skipOperator();
      else this.#readSimple(level);
    }
  }

  #skipOperator(): void {
    const operator = /\|\||&&|\|&|[;&|]/y;
    operator.lastIndex = this.#at;
    this.#at += operator.exec(this.#text)?.[0].length ?? 1;
    // `;;` belongs to `case`, whose patterns are not read.
    if (this.#text[this.#at - 1] === ';' && this.#text[this.#at] === ';') throw new Unreadable();
  }

  #readSimple(level: number): void {
    const part = { words: [] as SourceWord[], assigns: false, assigned: [] as CommandWord[], writes: false };
    for (;;) {
      this.#skipBlanks();
      const next = this.#text[this.#at];
      const after = this.#text[this.#at + 1];
      if (next === '#') this.#skipComment();
      if (next === '(' && (part.words.length > 0 || part.assigns || part.writes)) throw new Unreadable();
      const isOutput = next === '&' && after === '>';
      if (next === undefined || next === '#' || (/[\n;&|()]/.test(next) && !isOutput)) break;
      const isWord = !/[<>&]/.test(next) || ((next === '<' || next === '>') && after === '(');
      if (!isWord || this.#skipDescriptor()) part.writes = this.#redirect() || part.writes;
      else this.#takeWord(part, level);
    }
    if (this.#parts.length >= partsMax || mayEvaluate(part.words, this.#text)) throw new Unreadable();
    if (part.words.length > 0 || part.writes || part.assigns) this.#parts.push(part);
  }

  #takeWord(part: CommandPart & { words: SourceWord[] }, level: number): void {
    const assignment = /[A-Za-z_]\w*(?:\[([^\]$`]*)\])?\+?=/y;
    assignment.lastIndex = this.#at;
    const assigned = part.words.length === 0 ? assignment.exec(this.#text) : null;
    const start = this.#at;
    const word = this.#readWord(level);
    if (hasLateSubscript(word.text)) throw new Unreadable();
    if (assigned !== null) {
      if (!isPlainArithmetic(assigned[1] ?? '', this.#text)) throw new Unreadable();
      part.assigns = true;
      part.assigned.push(word);
      return;
    }
    if (part.words.length === 0 && word.isBare && !word.isOpen) {
      if (unreadKeywords.has(word.text)) throw new Unreadable();
      if (keywords.has(word.text)) return;
    }
    part.words.push({ ...word, source: this.#text.slice(start, this.#at) });
  }

  /** The number of a descriptor in front of a redirection. */
  #skipDescriptor(): boolean {
    const descriptor = /\d+(?=[<>])/y;
    descriptor.lastIndex = this.#at;
    const found = descriptor.exec(this.#text);
    this.#at += found?.[0].length ?? 0;
    return found !== null;
  }

  /** Whether it writes to a file. */
  #redirect(): boolean {
    const operators = /<<<|<<-|<<|<&|<>|<|&>>|&>|>>|>\||>&|>/y;
    operators.lastIndex = this.#at;
    const operator = operators.exec(this.#text)?.[0];
    if (operator === undefined) throw new Unreadable();
    this.#at += operator.length;
    if (operator === '<<' || operator === '<<-') {
      this.#announceHereDocument(operator === '<<-');
      return false;
    }
    this.#skipBlanks();
    const next = this.#text[this.#at];
    if (next === undefined || (ender.test(next) && this.#text[this.#at + 1] !== '(')) throw new Unreadable();
    const { text, isOpen } = this.#readWord(this.#depth);
    if (operator === '<>') return true;
    if (!operator.includes('>')) return false;
    const isDescriptor = operator === '>&' && /^(?:\d+-?|-)$/.test(text);
    return isOpen || !(isDescriptor || text === '/dev/null');
  }

  #announceHereDocument(isIndented: boolean): void {
    hereDelimiter.lastIndex = this.#at;
    const found = hereDelimiter.exec(this.#text);
    if (found === null) throw new Unreadable();
    const [whole, single, double, escaping, plain] = found;
    this.#at += whole.length;
    const isQuoted = single !== undefined || double !== undefined || escaping !== '';
    this.#hereDocuments.push({ delimiter: single ?? double ?? plain ?? '', isQuoted, isIndented });
  }

  /** Past the end of a line, and the here-documents that begin after it. */
  #endLine(): void {
    this.#at++;
    for (const { delimiter, isQuoted, isIndented } of this.#hereDocuments.splice(0)) {
      let body = '';
      for (;;) {
        if (this.#at >= this.#text.length) throw new Unreadable();
        const lineEnd = this.#text.indexOf('\n', this.#at);
        const line = this.#text.slice(this.#at, lineEnd === -1 ? undefined : lineEnd);
        this.#at = lineEnd === -1 ? this.#text.length : lineEnd + 1;
        if ((isIndented ? line.replace(/^\t+/, '') : line) === delimiter) break;
        body += line;
      }
      if (!isQuoted && /\$\(|`|\$\[|\$\{[^}]*[^\w}]/.test(body)) throw new Unreadable();
    }
  }

  #readWord(level: number): CommandWord {
    const word: CommandWord = { text: '', isOpen: false, isBare: true };
    const literal = (text: string): void => {
      if (!word.isOpen) word.text += text;
    };
    const start = this.#at;
    for (;;) {
      const next = this.#text[this.#at];
      const after = this.#text[this.#at + 1];
      if ((next === '<' || next === '>') && after === '(') {
        this.#at += 2;
        this.readList(level + 1, ')');
        word.isOpen = true;
      } else if (next === undefined || ender.test(next)) return word;
      else if (next === '\\') {
        this.#at += 2;
        word.isBare = false;
        if (after !== '\n') literal(after ?? '\\');
      } else if (next === "'") {
        word.isBare = false;
        literal(this.#readSingleQuoted(this.#at + 1));
      } else if (next === '"') {
        word.isBare = false;
        this.#at++;
        this.#readDoubleQuoted(word, literal, level);
      } else if (next === '$' && after === "'") {
        word.isBare = false;
        const text = this.#readAnsiQuoted();
        if (text === undefined) word.isOpen = true;
        else literal(text);
      } else if (next === '$' && after === '"') this.#at++;
      else if (next === '$' || next === '`') this.#readExpansion(word, literal, level);
      else if (/[*?[{]/.test(next) && !this.#isPlain(start)) {
        word.isOpen = true;
        this.#at++;
      } else {
        literal(next);
        this.#at++;
      }
    }
  }

  /** `[`, `[[`, `{` and `{}` standing alone mean themselves. */
  #isPlain(start: number): boolean {
    const alone = /(?:\[\[?|\{\}?)(?=[\s;)]|$)/y;
    alone.lastIndex = start;
    const found = alone.exec(this.#text);
    return found !== null && this.#at < start + found[0].length;
  }

  #readSingleQuoted(from: number): string {
    const end = this.#text.indexOf("'", from);
    if (end === -1) throw new Unreadable();
    const text = this.#text.slice(from, end);
    if (hasLateSubscript(text)) throw new Unreadable();
    this.#assertNoHereDocument(text);
    this.#at = end + 1;
    return text;
  }

  /** Undefined when it holds escapes, which are not read. */
  #readAnsiQuoted(): string | undefined {
    const quoted = /\$'((?:[^'\\]|\\.)*)'/sy;
    quoted.lastIndex = this.#at;
    const found = quoted.exec(this.#text);
    if (found?.[1] === undefined) throw new Unreadable();
    this.#at += found[0].length;
    this.#assertNoHereDocument(found[1]);
    return found[1].includes('\\') ? undefined : found[1];
  }

  #readDoubleQuoted(word: CommandWord, literal: (text: string) => void, level: number): void {
    for (;;) {
      const next = this.#text[this.#at];
      const after = this.#text[this.#at + 1];
      if (next === undefined) throw new Unreadable();
      if (next === '"') {
        this.#at++;
        return;
      }
      if (next === '\\' && after !== undefined && /[$`"\\\n]/.test(after)) {
        if (after !== '\n') literal(after);
        this.#at += 2;
      } else if (next === '`' || (next === '$' && after !== '"' && after !== "'")) {
        this.#readExpansion(word, literal, level);
      } else {
        this.#assertNoHereDocument(next);
        literal(next);
        this.#at++;
      }
    }
  }

  #readExpansion(word: CommandWord, literal: (text: string) => void, level: number): void {
    const start = this.#at;
    if (this.#text[this.#at] === '`') {
      const end = this.#text.indexOf('`', this.#at + 1);
      const inner = this.#text.slice(this.#at + 1, end);
      if (end === -1 || inner.includes('\\')) throw new Unreadable();
      this.#assertNoHereDocument(inner);
      new CommandReader(inner, this.#parts, level + 1).readList();
      this.#at = end + 1;
    } else if (this.#skip(arithmetic)) {
      if (!isPlainArithmetic(this.#text.slice(start + 3, this.#at - 2), this.#text)) throw new Unreadable();
    } else if (this.#text.startsWith('$(', this.#at)) {
      this.#at += 2;
      this.readList(level + 1, ')');
    } else if (!this.#skip(parameter)) {
      if (/[[{(]/.test(this.#text[this.#at + 1] ?? '')) throw new Unreadable();
      this.#at++;
      literal('$');
      return;
    } else if (this.#text[start + 1] === '{') {
      if (!isPlainParameter(this.#text.slice(start + 2, this.#at - 1), this.#text)) throw new Unreadable();
    }
    word.isOpen = true;
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    this.#at += found?.[0].length ?? 0;
    return found !== null;
  }

  /** A line that ends within quotes while a here-document is announced: where that begins is not read. */
  #assertNoHereDocument(text: string): void {
    if (this.#hereDocuments.length > 0 && text.includes('\n')) throw new Unreadable();
  }

  #skipBlanks(): void {
    for (;;) {
      const next = this.#text[this.#at];
      if (next === '\\' && this.#text[this.#at + 1] === '\n') this.#at += 2;
      else if (next !== undefined && blank.test(next)) this.#at++;
      else return;
    }
  }

  #skipComment(): void {
    const end = this.#text.indexOf('\n', this.#at);
    this.#at = end === -1 ? this.#text.length : end;
  }
}

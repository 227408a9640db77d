import type { CommandVariant } from './command-variants.ts';

/** A rule's pattern: texts with anything between them. A star at the end after a space may stand for nothing at all. */
export type RulePattern = { texts: string[]; whole: string | undefined; weight: number };

const kept = new Map<string, RulePattern>();
const keptMax = 2_000;

/** Parses a pattern once; `weight` is the length of its fixed text: a heavier pattern is more specific. */
export function readPattern(source: string): RulePattern {
  const known = kept.get(source);
  if (known !== undefined) return known;
  const pattern = parse(source);
  if (kept.size >= keptMax) kept.clear();
  kept.set(source, pattern);
  return pattern;
}

function parse(source: string): RulePattern {
  const texts = splitAtStars(source).map((text) => text.replace(/\\([\\*])/g, '$1'));
  const spaced = texts.map((text) => text.replace(/\s+/g, ' '));
  const weight = spaced.reduce((sum, text) => sum + text.length, 0);
  return { texts: spaced, whole: texts.length === 1 ? texts[0] : undefined, weight };
}

/** The pieces between stars; a backslash takes away the meaning of the character after it. */
function splitAtStars(source: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (let at = 0; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '*') {
      pieces.push(source.slice(from, at));
      from = at + 1;
    }
  }
  return [...pieces, source.slice(from)];
}

/** The pattern that only this command has. */
export function patternOf(command: string): string {
  return command.trim().replace(/[\\*]/g, '\\$&');
}

/** Whether the pattern is this command and nothing else, to the last space. */
export function isVery(source: string | undefined, command: string): boolean {
  return source !== undefined && readPattern(source).whole === command.trim();
}

/** True if the pattern can match the variant. */
export function canMatch(pattern: RulePattern, variant: CommandVariant): boolean {
  if (!variant.isOpen) return matches(pattern, variant.text);
  const [head = ''] = pattern.texts;
  return head.startsWith(variant.text) || (pattern.texts.length > 1 && variant.text.startsWith(head));
}

/** True if the pattern matches the variant for every completion of an open end. */
export function certainlyMatches(pattern: RulePattern, variant: CommandVariant): boolean {
  if (variant.isGuess) return false;
  if (!variant.isOpen) return matches(pattern, variant.text);
  const [head = '', tail, ...more] = pattern.texts;
  return tail === '' && more.length === 0 && variant.text.startsWith(head);
}

function matches({ texts }: RulePattern, text: string): boolean {
  const [head = '', ...rest] = texts;
  if (!text.startsWith(head)) {
    return rest.length === 1 && rest[0] === '' && head.endsWith(' ') && head.slice(0, -1) === text;
  }
  const tail = rest.pop();
  if (tail === undefined) return text.length === head.length;
  let at = head.length;
  for (const middle of rest) {
    const found = text.indexOf(middle, at);
    if (found === -1) return false;
    at = found + middle.length;
  }
  return text.length - tail.length >= at && text.endsWith(tail);
}

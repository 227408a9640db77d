/**
 * Text of an answer that a further request continues. Models asked to continue often repeat the last words or begin
 * again, and some servers send the beginning back: text that repeats the earlier text is left out.
 */

/** How much of the end is compared, beside the whole text. */
const maxTail = 4_000;
const maxLeadingSpace = 64;
/** A shorter repetition of the beginning can be meant. */
const minBeginning = 40;
const word = /\p{L}{3}/u;
const alphabetic = /[\p{L}\p{N}]/u;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

export type TextContinuation = {
  push(delta: string): void;
  /** Releases the text that was held back for comparison. */
  end(): void;
};

/** Passes on text that follows `before`, without what it repeats of it. Costs each delta its own length. */
export function continueText(before: string, pass: (text: string) => void): TextContinuation {
  let isDecided = before === '';
  let leading = '';
  /** The text so far, after its leading space. */
  let text = '';
  /** Places of `before` from which all of the text so far is the same. */
  let open: number[] | undefined;
  let repeated: number | undefined;

  function push(delta: string): void {
    let added = delta;
    if (text === '') {
      added = delta.trimStart();
      leading += delta.slice(0, delta.length - added.length);
      if (added === '' && leading.length <= maxLeadingSpace) return;
    }
    if (!compare(added)) decide(false);
  }

  /** True while a longer repetition is possible than the one that was found. */
  function compare(added: string): boolean {
    const matched = text.length;
    text += added;
    open ??= placesOf(before, text);
    open = open.filter((at) => {
      const rest = before.length - at;
      if (text.length < rest) return before.startsWith(added, at + matched);
      if (added.startsWith(before.slice(at + matched)) && isRepetition(before, at)) repeated ??= at;
      return false;
    });
    return open.some((at) => repeated === undefined || at < repeated);
  }

  function decide(isOver: boolean): void {
    isDecided = true;
    const isBegunAgain = isOver && open?.[0] === before.search(/\S/) && text.length >= minBeginning;
    const rest = isBegunAgain
      ? ''
      : repeated === undefined
        ? withoutSharedSpace(before, leading + text)
        : text.slice(before.length - repeated);
    text = '';
    if (rest !== '') pass(rest);
  }

  return {
    push(delta) {
      if (delta === '') return;
      if (isDecided) pass(delta);
      else push(delta);
    },
    end() {
      if (!isDecided) decide(true);
    },
  };
}

/** Earlier places come first, as they mean longer repetitions. */
function placesOf(before: string, text: string): number[] {
  const first = text.charAt(0);
  const begins = before.search(/\S/);
  const places = begins === -1 || before.charAt(begins) !== first ? [] : [begins];
  const tail = Math.max(begins + 1, before.length - maxTail);
  for (let at = before.indexOf(first, tail); at !== -1; at = before.indexOf(first, at + 1)) places.push(at);
  return places;
}

/** True if the end from this place has words of its own: short words and marks can follow each other. */
function isRepetition(before: string, at: number): boolean {
  if (!word.test(before.slice(at))) return false;
  const last = before.slice(Math.max(0, at - 1), at);
  const next = before.slice(at, at + 1);
  return !(alphabetic.test(last) && alphabetic.test(next)) || unspaced.test(next);
}

/** The text without leading space that `before` ends with. */
function withoutSharedSpace(before: string, text: string): string {
  const trailing = before.slice(before.trimEnd().length);
  const leading = text.slice(0, text.length - text.trimStart().length);
  for (let length = Math.min(trailing.length, leading.length); length > 0; length--) {
    if (trailing.endsWith(leading.slice(0, length))) return text.slice(length);
  }
  return text;
}

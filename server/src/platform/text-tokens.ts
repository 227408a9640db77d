/** A longer text is estimated from blocks of this many characters, spread evenly over it. */
const sampledFrom = 256 * 1024;
const blockLength = 4_096;

/**
 * Tokens of a text, by the kind of its characters. Within about 10 % of the o200k encoding for prose in many languages
 * and for code, high for encoded data; a few nanoseconds per character, and under 3 ms for a text of any length.
 */
export function estimateTokens(text: string): number {
  if (text.length <= sampledFrom) return Math.ceil(weigh(text, 0, text.length));
  const blocks = sampledFrom / blockLength;
  const distance = (text.length - blockLength) / (blocks - 1);
  let tokens = 0;
  for (let block = 0; block < blocks; block += 1) {
    const from = Math.floor(block * distance);
    tokens += weigh(text, from, from + blockLength);
  }
  return Math.ceil((tokens * text.length) / sampledFrom);
}

function weigh(text: string, from: number, to: number): number {
  let tokens = 0;
  let previous = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    tokens += code < 0x80 ? asciiWeight(code, previous) : wideWeight(code);
    previous = code;
  }
  return tokens;
}

function asciiWeight(code: number, previous: number): number {
  if (code >= 97 && code <= 122) return 0.215;
  if (code === 32) return previous === 32 ? 0.03 : 0.1;
  if (code >= 65 && code <= 90) return 0.38;
  if (code >= 48 && code <= 57) return 0.5;
  return code === 10 ? 0.4 : 0.6;
}

/**
 * Latin with marks, Greek and Cyrillic, the scripts up to Hangul Jamo, kana, Han and Hangul, halves of pairs, the rest.
 */
function wideWeight(code: number): number {
  if (code < 0x250) return 0.5;
  if (code < 0x590) return 0.28;
  if (code < 0x1200) return 0.4;
  if (code >= 0x3040 && code < 0x3100) return 0.8;
  if (code >= 0x2e80 && code < 0xd7b0) return 0.85;
  return code >= 0xd800 && code < 0xe000 ? 1 : 0.8;
}

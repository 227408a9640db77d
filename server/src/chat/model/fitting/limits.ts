import type { ProviderDialect } from '../provider-dialect.ts';

/** Limits in the text of a refusal: the largest output, and the context window. Numbers are tokens. */

const textMax = 4_000;
const smallestOutput = 16;
const smallestWindow = 256;
const largest = 100_000_000;
/** Servers count the tokens of a prompt differently; this share of a window stays free. */
const marginShare = 0.02;

/** Wordings for a prompt that is too long, from the refusals of two dozen servers. */
const overflow =
  /context.{0,20}(?:length|window|size|limit)|context the overflows|maximum context|too many (?:input |prompt |total )?tokens|(?:prompt|input|request|messages?|conversation)[^.]{0,30} too (?:long|large)|(?:prompt|input length|token count)[^.]{0,40} exceed|range of input length|maximum (?:prompt|input|sequence) length|exceeded model token limit|inputs. (?:must have less|tokens \+)|reduce (?:the|your) (?:length|prompt|message|input)|too large for [^.]{0,30}model|tokens_limit_reached|exceed_context_size|context_length_exceeded|exceeds? max(?:imum)? (?:length|input)/;
/** A limit of time or money, not of one prompt. */
const quota = /per minute|per day|\btpm\b|\btpd\b|\brpm\b|rate limit|quota|credits?\b|afford/;

/** True for a refusal because the prompt is too long, in the words of any server. */
export function isOverflow(refusal: string): boolean {
  const text = plainText(refusal);
  return overflow.test(text) && !quota.test(text);
}

/** A refusal's limits for the request that it is about. */
export type ToldLimits = {
  /** The largest output that the server accepts for this request. */
  maxOutputTokens?: number;
  /** True if that is a limit of the model, not of this request. */
  isForGood?: boolean;
  contextWindow?: number;
};

/** With the length of the prompt as the server counts it. */
const windowsWithInput = [
  /context limit: (?<input>\d{1,9}) \+ \d{1,9} > (?<window>\d{3,9})/,
  /context length (?:is|of) (?<window>\d{3,9}) tokens\b.{0,160}?\b(?<input>\d{1,9}) (?:tokens )?(?:in the messages|in your prompt|of text input|input tokens|in the prompt)/,
  /must be <= (?<window>\d{3,9})\. given: (?<input>\d{1,9}) .?inputs/,
];
const windows = [
  /context (?:length|window|size|limit)(?! exceeds limit \()\D{0,24}(?<window>\d{3,9})/,
  /\d tokens > (?<window>\d{3,9}) maximum/,
  /tokens allowed \((?<window>\d{3,9})\)/,
  /maximum (?:prompt|input|sequence) length (?:is|of) (?<window>\d{3,9})/,
  /must have less than (?<window>\d{3,9}) tokens/,
  /token limit:? (?<window>\d{3,9})/,
  /range of input length should be \[\d{1,9}, (?<window>\d{3,9})\]/,
  /cannot exceed (?<window>\d{3,9})/,
  /(?<window>\d{3,9}) maximum context length/,
  /(?:current length is \d{1,9} while limit is|max size:) (?<window>\d{3,9})/,
];
const aboutOutput =
  /max[_ ]?(?:completion|output|new)?[_ ]?tokens|maxoutputtokens|(?:completion|output|generated|new) tokens|maximum tokens you requested|afford/;

/** Reads the limits in a refusal of a request with this limit of the output; undefined if it tells none. */
export function readLimits(refusal: string, sentMax: number | undefined): ToldLimits | undefined {
  const text = plainText(refusal);
  if (isOverflow(text)) {
    const both = windowsWithInput.map((place) => place.exec(text)?.groups).find((found) => found !== undefined);
    if (both !== undefined) return besidePrompt(Number(both.window), Number(both.input), sentMax);
  }
  const output = sentMax === undefined || !aboutOutput.test(text) ? undefined : largestOutput(text, sentMax);
  if (output !== undefined) return { maxOutputTokens: output, isForGood: !quota.test(text) };
  const window = isOverflow(text)
    ? windows.map((place) => Number(place.exec(text)?.groups?.window)).find((value) => value >= smallestWindow)
    : undefined;
  return window === undefined ? undefined : { contextWindow: window };
}

/** The window, and the output that it leaves beside this prompt. */
function besidePrompt(contextWindow: number, input: number, sentMax: number | undefined): ToldLimits {
  const room = Math.floor(contextWindow * (1 - marginShare) - input);
  const fits = sentMax !== undefined && room >= smallestOutput && room < sentMax;
  return fits ? { contextWindow, maxOutputTokens: room } : { contextWindow };
}

function largestOutput(text: string, sentMax: number): number | undefined {
  const exclusive = Number(/\b(\d{1,9}) \(exclusive\)/.exec(text)?.[1]);
  const fitting = (text.match(/\d{1,9}/g) ?? [])
    .slice(0, 50)
    .map(Number)
    .map((value) => (value === exclusive ? value - 1 : value))
    .filter((value) => value >= smallestOutput && value < sentMax);
  return fitting.length === 0 ? undefined : Math.max(...fitting);
}

/** In lower case, with whole numbers. */
function plainText(refusal: string): string {
  return refusal
    .slice(0, textMax)
    .toLowerCase()
    .replace(/(\d)[,_](?=\d{3})/g, '$1');
}

/** Keeps the limits of a model in its dialect; true if one of them is news. */
export function learnLimits(dialect: ProviderDialect, told: ToldLimits): boolean {
  const { contextWindow, maxOutputTokens, isForGood = false } = told;
  const isNewWindow = contextWindow !== undefined && contextWindow < (dialect.contextWindow ?? largest);
  if (isNewWindow) dialect.contextWindow = contextWindow;
  const isNewOutput = isForGood && (maxOutputTokens ?? largest) < (dialect.maxOutputTokens ?? largest);
  if (isNewOutput) dialect.maxOutputTokens = maxOutputTokens;
  return isNewWindow || isNewOutput;
}

import type { MessagePart } from '@homeport/contracts/chat/frames';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { within } from '../../platform/waits.ts';
import type { ChatMessage, StoredMessage } from '../model/provider-messages.ts';

/** Asks a model once, without tools or streaming to anyone; resolves with the text of its answer. */
export type AskForText = (
  request: { messages: ChatMessage[]; maxOutputTokens: number },
  signal: AbortSignal,
) => Promise<string>;

const titleBounds = {
  instantLength: 60,
  generatedLength: 80,
  /** Enough for models that think before six words. */
  maxOutputTokens: 200,
  timeoutMs: 15_000,
  /** Characters of each message that the model gets, in UTF-16 units. */
  excerptLength: 2000,
};

const untitled = 'New conversation';

/** Introductions that some models write before a title although asked for the title only. */
const announcement = /^.{0,80}\b(?:title|titel|titre|t[ií]tulo|titolo)\b.{0,80}:$/i;

/** A label before a title, which some models write on its line. */
const prefix =
  /^(?:(?:title|titel|titre|t[ií]tulo|titolo|conversation title|chat title|заголовок|название)\s?[:：]|(?:标题|標題|タイトル|題名|件名|제목|العنوان|כותרת)\s?[:：])\s?/iu;

const instructions =
  'Name this conversation: write a title of two to six words, in the language of the user, that describes its subject. Reply with the title only, without quotes.';

/** A title from the first words of a message. */
export function instantTitle(parts: readonly MessagePart[]): string {
  const text = cutAtWord(plainText(excerpt(parts)), titleBounds.instantLength);
  return text === '' ? untitled : text;
}

/** A title from a model, after the first exchange; undefined on any failure: a title is never worth an error. */
export async function generateTitle(
  options: { ask: AskForText; messages: readonly StoredMessage[]; clock?: Clock },
  signal: AbortSignal,
): Promise<string | undefined> {
  const exchange = options.messages
    .slice(0, 4)
    .map((message) => `${message.role === 'user' ? 'User' : 'Assistant'}: ${excerpt(message.parts)}`);
  const messages: ChatMessage[] = [
    { role: 'system', content: instructions },
    { role: 'user', content: exchange.join('\n\n') },
  ];
  const { clock = systemClock, ask } = options;
  const limit = { clock, milliseconds: titleBounds.timeoutMs, signal, tooLate: () => new Error('too late') };
  try {
    signal.throwIfAborted();
    return cleanTitle(
      await within(limit, (own) => ask({ messages, maxOutputTokens: titleBounds.maxOutputTokens }, own)),
    );
  } catch {
    return undefined;
  }
}

function excerpt(parts: readonly MessagePart[]): string {
  let text = '';
  for (const part of parts) {
    if (part.type === 'text') text += `${part.text.slice(0, titleBounds.excerptLength)}\n`;
    if (text.length >= titleBounds.excerptLength) break;
  }
  return text.slice(0, titleBounds.excerptLength).toWellFormed().trim();
}

function cleanTitle(answer: string): string | undefined {
  const end = answer.lastIndexOf('</think>');
  const spoken = end === -1 ? answer : answer.slice(end + '</think>'.length);
  if (spoken.trimStart().startsWith('<think>')) return undefined;
  const lines = unwrapped(spoken.trimStart()).slice(0, titleBounds.excerptLength).split('\n').map(plainText);
  const [first = '', second = ''] = lines.filter((line) => line !== '');
  const named = (second !== '' && announcement.test(first) ? second : first).replace(prefix, '');
  const bare = named.replace(/^["'“”„«»‘’「」『』《》]{1,3}/, '').replace(/["'“”„«»‘’「」『』《》.:。]{1,3}$/, '');
  const title = cutAtWord(bare.trim(), titleBounds.generatedLength);
  return title === '' ? undefined : title;
}

/** The title in JSON, in tags, or behind a courtesy such as "Sure!". */
function unwrapped(answer: string): string {
  const text = answer
    .slice(0, titleBounds.excerptLength)
    .replace(/^```(?:json)?\s/i, '')
    .trimStart();
  const json = /^\{\s{0,20}"(?:title|titel|name|titre|t[ií]tulo)"\s{0,5}:\s{0,5}("(?:[^"\\]|\\.){0,500}")/i.exec(
    text,
  )?.[1];
  const tagged = /<title>([^<]{1,300})<\/title>/i.exec(text)?.[1];
  const found = json === undefined ? tagged : parsedText(json);
  if (found !== undefined) return found;
  return text.replace(/^(?:sure|certainly|of course|okay|ok|gerne|klar|natürlich)[!,.:]{1,3}\s{0,5}(?=\S)/i, '');
}

function parsedText(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Text without markdown marks, control and direction characters, on one line. */
function plainText(text: string): string {
  return text
    .replace(/!?\[([^[\]\n]{0,200})\]\([^()\n]{0,500}\)/g, '$1')
    .replace(/^[ \t]{0,8}(?:#{1,6}|>|[-*+]|\d{1,3}[.)])[ \t]/gm, '')
    .replace(/```[\w-]{0,30}|[`*~]|__/g, '')
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\s]{1,4000}/gu, ' ')
    .trim();
}

/** Cuts text to at most `length` UTF-16 units, after a word if there is one, never inside a character. */
function cutAtWord(text: string, length: number): string {
  if (text.length <= length) return text;
  const shortened = text.slice(0, length - 1);
  const space = text[length - 1] === ' ' ? shortened.length : shortened.lastIndexOf(' ');
  const cut = space > length / 3 ? shortened.slice(0, space) : wholeCharacters(shortened);
  return `${cut.trimEnd()}…`;
}

function wholeCharacters(text: string): string {
  const segments = [...new Intl.Segmenter().segment(`${text}x`)];
  const last = segments.at(-1);
  // The letter put behind joins nothing, so a character that was cut is the one before it.
  const cut = last === undefined ? undefined : segments.at(-2);
  const isCut = cut !== undefined && (!cut.segment.isWellFormed() || cut.segment.endsWith('\u200d'));
  return isCut ? text.slice(0, cut.index) : text;
}

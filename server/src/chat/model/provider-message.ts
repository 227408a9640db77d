import { ApiError } from '@homeport/contracts/errors';
import { oneLine } from '@homeport/contracts/text/line';
import { isRecord } from './stream/storable-text.ts';

const maxLength = 300;
const replacement = '…';

/** Shapes of keys, tokens and account ids; compared with one word at a time. */
const secretShapes = [
  /^(?:sk|pk|rk|xai|gsk|hf|pplx|r8|nvapi|org|proj|req|key|ghp|github_pat|glpat|fw|csk|tgp|AIza|ya29|eyJ|AKIA|Bearer)[-_.A-Z0-9][\w.~+/=-]{5,}/,
  /\*{2,}/,
  /•{2,}|\.{4,}|x{6,}|X{6,}/,
  /^(?=\S*\d)(?=\S*[a-z])[A-Za-z0-9+/_=]{20,}$/,
  /^[0-9a-fA-F]{8}-[0-9a-fA-F-]{20,}$/,
  /^(?=\S*\d)[\w.~+/=-]{40,}$/,
];
const introducesSecret = /(?:key|token|secret|password|bearer|authorization)(?: provided)?['"]?[:=]$/i;

/**
 * The first sentence of a provider's message, as plain text of one line. Words that look like keys are replaced.
 * Undefined if nothing readable is left.
 */
export function firstSentence(message: string): string | undefined {
  const line = oneLine(message.slice(0, 4 * maxLength).toWellFormed()).replace(/\p{Cf}/gu, '');
  if (line.startsWith('<')) return undefined;
  const sentence = /^.{10,}?[.!?。！？](?=\s|$)/u.exec(line)?.[0] ?? line;
  const words = sentence.split(/\s+/);
  const clean = words.map((word, at) => (isSecret(word, words[at - 1] ?? '') ? replacement : word)).join(' ');
  if (!/\p{L}{2}/u.test(clean)) return undefined;
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength - 1).trimEnd()}${replacement}`;
}

function isSecret(word: string, before: string): boolean {
  const bare = word.replace(/^["'`(<[{]{1,3}/, '').replace(/["'`)>\]},.;:!?]{1,3}$/, '');
  if (introducesSecret.test(before) && /\d|\*|[-_]/.test(bare)) return true;
  return [bare, ...bare.split(/[:=]/)].some((text) => secretShapes.some((shape) => shape.test(text)));
}

/** The same failure without any part of the given secrets in the provider's message. */
export function withoutSecrets(failure: ApiError, secrets: readonly string[]): ApiError {
  const { details } = failure;
  if (!isRecord(details) || typeof details.providerMessage !== 'string') return failure;
  const known = secrets.filter((secret) => secret.length >= 4);
  const clean = details.providerMessage
    .split(' ')
    .map((word) => (known.some((secret) => sharesPart(word, secret)) ? replacement : word))
    .join(' ');
  if (clean === details.providerMessage) return failure;
  return new ApiError(failure.code, failure.message, {
    details: { ...details, providerMessage: clean },
    cause: failure.cause,
    ...(failure.retryAfter === undefined ? {} : { retryAfter: failure.retryAfter }),
  });
}

const sharedLength = 6;

function sharesPart(word: string, secret: string): boolean {
  const length = Math.min(sharedLength, secret.length);
  for (let at = 0; at + length <= word.length; at++) if (secret.includes(word.slice(at, at + length))) return true;
  return false;
}

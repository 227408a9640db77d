import { z } from 'zod';

/**
 * The one normal form of an e-mail address, by which accounts are compared: lower case, the name before `@` in Unicode
 * NFC, the domain in ASCII (A-labels, RFC 9598). Undefined for text that is no address, or that only looks like another
 * one: characters that Unicode folds to ASCII, and parts that mix Latin letters with Cyrillic or Greek ones.
 */
export function normalEmail(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  if (at < 1 || /[\p{C}\p{Z}]/u.test(text) || [...text].some(foldsToAscii)) return undefined;
  const local = text.slice(0, at).normalize('NFC').toLowerCase().normalize('NFC');
  const domain = asciiDomain(text.slice(at + 1).normalize('NFC'));
  if (domain === undefined || isMixed(local)) return undefined;
  const address = `${local}@${domain}`;
  const form = `${local.replace(/\P{ASCII}/gu, 'x')}@${domain.replace(/\bxn--[a-z0-9-]+/g, 'xn')}`;
  return asciiAddress.safeParse(form).success ? address : undefined;
}

/** The text as accounts have addresses, to look one up; text that is no address stays as it is, in lower case. */
export function comparableEmail(text: string): string {
  return normalEmail(text.trim()) ?? text.trim().toLowerCase();
}

const asciiAddress = z.email();

/** A domain in lower-case ASCII, as DNS has it; undefined if it has no such form. */
export function asciiDomain(text: string): string | undefined {
  // The parser of addresses also reads numbers, ports and credentials.
  if (text === '' || /[/\\?#@:[\]%]/.test(text) || text.split('.').some(isMixed)) return undefined;
  if (/^\p{ASCII}*$/u.test(text)) return text.toLowerCase();
  return URL.parse(`http://${text}`)?.hostname || undefined;
}

/** The Kelvin sign, full-width letters, ligatures, …: two texts that differ in bytes would be one address. */
function foldsToAscii(character: string): boolean {
  return character > '\x7f' && /^\p{ASCII}*$/u.test(character.normalize('NFKC').toLowerCase());
}

function isMixed(text: string): boolean {
  return /\p{Script=Latin}/u.test(text) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(text);
}

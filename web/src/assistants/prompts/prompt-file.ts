import { limits } from '@homeport/contracts/limits';
import { trimOf } from '@homeport/contracts/text/trim-characters';

/** Prompts as a file: our own format, and lists as other products export them (`command`, `content`). */

export type FilePrompt = { name: string; title: string; text: string };
type Refused = { label: string; reason: 'notPrompt' | 'name' | 'text' | 'tooLong' | 'twice' };
type PromptFile = { prompts: FilePrompt[]; refused: Refused[] };

/** More than a person may have, so that a report stays readable. */
const mostRead = 2 * limits.promptsPerOwner;
const namePattern = /^[a-z0-9-]{1,64}$/;

export function writePromptFile(prompts: readonly FilePrompt[]): string {
  const listed = prompts.map(({ name, title, text }) => ({ name, title, text }));
  return `${JSON.stringify({ format: 'homeport-prompts', version: 1, prompts: listed }, null, 2)}\n`;
}

/** Parses a file of prompts into valid and invalid ones; undefined if it is not a list of prompts. */
export function readPromptFile(content: string): PromptFile | undefined {
  const list = listIn(content);
  if (!list || list.length > mostRead) return undefined;
  const file: PromptFile = { prompts: [], refused: [] };
  const names = new Set<string>();
  list.forEach((item, index) => {
    const read = readPrompt(item);
    const label = 'name' in read && read.name !== '' ? `/${read.name}` : `#${index + 1}`;
    if ('reason' in read) file.refused.push({ label: read.label || label, reason: read.reason });
    else if (names.has(read.name)) file.refused.push({ label, reason: 'twice' });
    else {
      names.add(read.name);
      file.prompts.push(read);
    }
  });
  return file;
}

/** A title or command as the name of a prompt: `/Weekly report` becomes `weekly-report`. */
export function nameOf(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss').toLowerCase();
  return trimOf(plain.replace(/[^a-z0-9]+/g, '-').slice(0, 64), '-');
}

function readPrompt(item: unknown): FilePrompt | Refused {
  if (typeof item !== 'object' || item === null) return { label: '', reason: 'notPrompt' };
  const title = firstText(item, ['title', 'name', 'command']).trim().replace(/\s+/g, ' ');
  const given = firstText(item, ['name', 'command', 'title']).replace(/^\//, '');
  const name = namePattern.test(given) ? given : nameOf(given);
  const text = firstText(item, ['text', 'content', 'prompt']);
  const label = title.slice(0, limits.promptTitleMax);
  if (name === '') return { label, reason: 'name' };
  if (text.trim() === '') return { label, reason: 'text' };
  if (text.length > limits.promptTextMax) return { label, reason: 'tooLong' };
  return { name, title: label || name, text };
}

function firstText(item: object, names: readonly string[]): string {
  for (const name of names) {
    const value: unknown = Reflect.get(item, name);
    if (typeof value === 'string' && value.trim() !== '') return value;
  }
  return '';
}

function listIn(content: string): unknown[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    return undefined;
  }
  const inside: unknown =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Reflect.get(value, 'prompts') : value;
  return Array.isArray(inside) ? inside : undefined;
}

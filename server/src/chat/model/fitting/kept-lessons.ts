import type { Lesson } from '@homeport/contracts/catalogue/model-facts';
import { type ProviderDialect, parameterNames, refuse } from '../provider-dialect.ts';

/** The lessons of a dialect that are stored with a model, and shown to its owner. */

type Kept = Pick<Lesson, 'about' | 'value'>;

const refused = 'refused';
const withoutEffort = parameterNames.filter((name) => name !== 'reasoningEffort');

export function lessonsOf(dialect: ProviderDialect): Kept[] {
  const lessons: Kept[] = [];
  if (!dialect.tools) lessons.push({ about: 'tools', value: refused });
  if (!dialect.images) lessons.push({ about: 'images', value: refused });
  if (!dialect.systemRole) lessons.push({ about: 'system', value: refused });
  if (dialect.refused.has('reasoningEffort')) lessons.push({ about: 'reasoning', value: refused });
  for (const name of withoutEffort) if (dialect.refused.has(name)) lessons.push({ about: 'parameter', value: name });
  const { maxOutputTokens, contextWindow } = dialect;
  if (maxOutputTokens !== undefined) lessons.push({ about: 'max_output', value: String(maxOutputTokens) });
  if (contextWindow !== undefined) lessons.push({ about: 'context', value: String(contextWindow) });
  return lessons;
}

/** Gives a new dialect the lessons that were stored. */
export function applyLessons(dialect: ProviderDialect, lessons: readonly Kept[]): void {
  for (const { about, value } of lessons) {
    const number = Number(value);
    const isNumber = Number.isSafeInteger(number) && number > 0;
    if (about === 'tools') dialect.tools = false;
    else if (about === 'images') dialect.images = false;
    else if (about === 'system') dialect.systemRole = false;
    else if (about === 'reasoning') refuse(dialect, 'reasoningEffort');
    else if (about === 'max_output' && isNumber) dialect.maxOutputTokens = number;
    else if (about === 'context' && isNumber) dialect.contextWindow = number;
    else if (about === 'parameter') {
      const name = withoutEffort.find((known) => known === value);
      if (name !== undefined) refuse(dialect, name);
    }
  }
}

/** A text that changes with the lessons. */
export function lessonsKey(lessons: readonly Kept[]): string {
  return lessons
    .map(({ about, value }) => `${about}=${value}`)
    .sort()
    .join(' ');
}

import type { Translate } from '../../i18n/i18n.ts';

/** The reasons that have one wording each, in the person's language; others come from the server in English. */
const texts = {
  password: 'files.problemPassword',
  damaged: 'files.problemDamaged',
  too_slow: 'files.problemSlow',
  too_much_memory: 'files.problemMemory',
  heic: 'files.problemHeic',
} as const;

export function documentProblem(t: Translate, { code, message }: { code: string; message: string }): string {
  return Object.hasOwn(texts, code) ? t(texts[code as keyof typeof texts]) : message;
}

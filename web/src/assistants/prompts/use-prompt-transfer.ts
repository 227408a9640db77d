import type { Prompt } from '@homeport/contracts/prompts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/api.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { useClientSession } from '../../conversation/client-session.ts';
import { failureText } from '../../i18n/failure-text.ts';
import { useText } from '../../i18n/i18n.ts';
import { type FilePrompt, readPromptFile, writePromptFile } from './prompt-file.ts';

/** Result of an import: the number of imported prompts, and rejected ones with the reason. */
export type ImportReport = { taken: number; refused: { label: string; text: string }[]; isNoList: boolean };

/** Bytes of a file that holds more than anybody's prompts. */
const fileMax = 32 * 1024 * 1024;

/** Exports prompts to a file and imports them from one, as private prompts. */
export function usePromptTransfer() {
  const t = useText();
  const queries = useQueryClient();
  const { user } = useClientSession();
  const [progress, setProgress] = useState<{ done: number; count: number }>();
  const [failure, setFailure] = useState<unknown>();

  /** Saves one; the reason when it is refused. Throws when it is unknown whether others would be. */
  const save = async (prompt: FilePrompt): Promise<string | undefined> => {
    try {
      await call('POST /api/prompts', { body: { ...prompt, audience: 'me' } });
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiFailure) || !error.isRefusal || error.code === 'unauthorized') throw error;
      return error.code === 'id_taken' ? t('prompts.nameTaken') : failureText(error, t);
    }
  };

  const importFile = async (file: File): Promise<ImportReport | undefined> => {
    setFailure(undefined);
    const read = file.size > fileMax ? undefined : readPromptFile(await file.text());
    if (!read) return { taken: 0, refused: [], isNoList: true };
    const refused = read.refused.map(({ label, reason }) => ({ label, text: t(`prompts.reason.${reason}`) }));
    let taken = 0;
    try {
      for (const [done, prompt] of read.prompts.entries()) {
        setProgress({ done, count: read.prompts.length });
        const reason = await save(prompt);
        if (reason === undefined) taken += 1;
        else refused.push({ label: `/${prompt.name}`, text: reason });
      }
    } catch (error) {
      const rest = read.prompts.slice(taken + refused.length - read.refused.length);
      refused.push(...rest.map(({ name }) => ({ label: `/${name}`, text: failureText(error, t) })));
    } finally {
      setProgress(undefined);
      await queries.invalidateQueries({ queryKey: ['prompts'] });
    }
    return { taken, refused, isNoList: false };
  };

  const exportAll = async () => {
    setFailure(undefined);
    try {
      const own = (await allPrompts()).filter(({ ownerId }) => ownerId === user.id);
      download(writePromptFile(own), 'prompts.json');
    } catch (error) {
      setFailure(error);
    }
  };
  return { importFile, exportAll, progress, failure };
}

async function allPrompts(): Promise<Prompt[]> {
  const prompts: Prompt[] = [];
  let cursor = '';
  do {
    const page = await call('GET /api/prompts', { query: { cursor, limit: '100' } });
    prompts.push(...page.prompts);
    cursor = page.nextCursor ?? '';
  } while (cursor !== '');
  return prompts;
}

function download(content: string, name: string): void {
  const address = URL.createObjectURL(new Blob([content], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

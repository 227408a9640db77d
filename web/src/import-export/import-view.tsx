import './progress.css';
import type { ImportRecord, ImportSource } from '@homeport/contracts/imports';
import { Button, Progress } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { failureText } from '../i18n/failure-text.ts';
import { dateLocale } from '../i18n/format-locale.ts';
import { type Translate, useText } from '../i18n/i18n.ts';
import { ConfirmDialog } from '../layout/dialogs/confirm-dialog.tsx';
import { showFailure } from '../layout/toasts.tsx';
import classes from './import-export.module.css';
import { ImportReport } from './import-report.tsx';
import { ImportedInstructions } from './imported-instructions.tsx';
import { importsQuery, isInProgress, reportOf } from './imports-api.ts';

/** One import: its progress, its content and its actions. */
export function ImportView({ record, isOpen = false }: { record: ImportRecord; isOpen?: boolean }) {
  const t = useText();
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const { id, state, counts, problems } = record;
  const run = async (work: () => Promise<unknown>) => {
    if (isBusy) return;
    setBusy(true);
    try {
      await work();
    } catch (failure) {
      showFailure(t('moving.changeFailed'), failureText(failure, t));
    }
    await queries.invalidateQueries({ queryKey: importsQuery.queryKey });
    setBusy(false);
  };
  const start = () => run(() => call('POST /api/imports/start', { body: { id } }));
  const end = () =>
    run(async () => {
      await call('DELETE /api/imports', { query: { id } });
      await queries.invalidateQueries();
    });
  const others = counts.projects + counts.assistants + counts.prompts + counts.skills;
  const hasEnded = state === 'done' || state === 'cancelled' || state === 'failed';
  const canUndo = hasEnded && (counts.imported > 0 || (state === 'done' && others > 0));
  const total = counts.new + counts.more;
  return (
    <article className={classes.import} aria-label={nameOf(record, t)}>
      <div className={classes.head}>
        <span className={classes.name}>{nameOf(record, t)}</span>
        <time className={classes.detail} dateTime={record.createdAt}>
          {new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeStyle: 'short' }).format(
            new Date(record.createdAt),
          )}
        </time>
      </div>
      <p role={isOpen ? 'status' : undefined}>{stateText(record, t)}</p>
      {isInProgress(record) ? (
        <Progress
          animated
          value={state === 'reading' || total === 0 ? 100 : (counts.imported / total) * 100}
          aria-label={stateText(record, t)}
        />
      ) : null}
      <p className={classes.detail}>{countsText(record, t)}</p>
      {problems.length > 0 ? (
        <details className={classes.problems} open={state === 'failed'}>
          <summary>{t('moving.problems')}</summary>
          <ul>
            {problems.map(({ title, message }) => (
              <li key={`${title} ${message}`}>{title === null ? message : `${title}: ${message}`}</li>
            ))}
          </ul>
        </details>
      ) : null}
      {isOpen && record.instructions !== null ? <ImportedInstructions text={record.instructions} /> : null}
      {isOpen && state !== 'reading' && counts.conversations + others > 0 ? (
        <ImportReport key={`${state} ${counts.imported}`} importId={id} />
      ) : null}
      <div className={classes.buttons}>
        {state === 'ready' ? (
          <Button aria-disabled={isBusy} onClick={() => void start()}>
            {t('moving.start')}
          </Button>
        ) : null}
        {isInProgress(record) || state === 'ready' ? (
          <Button variant="default" aria-disabled={isBusy} onClick={() => void end()}>
            {t('moving.cancel')}
          </Button>
        ) : null}
        {canUndo ? (
          <Button variant="default" aria-disabled={isBusy} onClick={() => setAsking(true)}>
            {t('moving.undo')}
          </Button>
        ) : null}
        {counts.conversations + others > 0 && state !== 'reading' ? (
          <Button variant="subtle" onClick={() => void run(() => saveReport(record))}>
            {t('moving.save')}
          </Button>
        ) : null}
      </div>
      {isAsking ? (
        <ConfirmDialog
          title={t('moving.undoTitle')}
          text={t('moving.undoText')}
          confirmLabel={t('moving.undo')}
          onConfirm={() => {
            setAsking(false);
            void end();
          }}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </article>
  );
}

const programNames: Readonly<Record<ImportSource, string>> = {
  chatgpt: 'ChatGPT',
  claude: 'Claude',
  'open-webui': 'Open WebUI',
  librechat: 'LibreChat',
  'chatbot-ui': 'chatbot-ui',
  homeport: 'Homeport',
};

const programs: Readonly<Record<string, string>> = programNames;

function nameOf({ source, filename }: ImportRecord, t: Translate): string {
  const program = source === null ? undefined : (programs[source] ?? source);
  return [program, filename].filter(Boolean).join(' ·\u00a0') || t('moving.unnamed');
}

function stateText({ state, counts }: ImportRecord, t: Translate): string {
  if (state === 'importing') return t('moving.importing', { done: counts.imported, total: counts.new + counts.more });
  if (state !== 'done') return t(`moving.${state}`);
  return counts.conversations === 0 ? t('moving.doneOthers') : t('moving.done', { count: counts.imported });
}

function countsText({ counts }: ImportRecord, t: Translate): string {
  return [
    counts.new > 0 ? t('moving.new', { count: counts.new }) : '',
    counts.more > 0 ? t('moving.continued', { count: counts.more }) : '',
    counts.same > 0 ? t('moving.same', { count: counts.same }) : '',
    counts.leftOut > 0 ? t('moving.leftOut', { count: counts.leftOut }) : '',
    counts.projects > 0 ? t('moving.projects', { count: counts.projects }) : '',
    counts.assistants > 0 ? t('moving.assistants', { count: counts.assistants }) : '',
    counts.prompts > 0 ? t('moving.prompts', { count: counts.prompts }) : '',
    counts.skills > 0 ? t('moving.skills', { count: counts.skills }) : '',
  ]
    .filter(Boolean)
    .join(' ·\u00a0');
}

async function saveReport(record: ImportRecord): Promise<void> {
  const url = URL.createObjectURL(new Blob([await reportOf(record)], { type: 'text/csv' }));
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = `import-${record.createdAt.slice(0, 10)}.csv`;
  anchor.click();
  URL.revokeObjectURL(url);
}

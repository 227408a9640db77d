import { ActionIcon } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useMemo, useState } from 'react';
import { ApiFailure } from '../../api/api-failure.ts';
import type { FileScope } from '../../api/upload.ts';
import { FormFailure, Notice } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import classes from '../files.module.css';
import { documentProblem } from './document-problem.ts';
import { documentQuery, type PageChoice } from './document-query.ts';
import { textBlocks } from './document-text.ts';
import previewClasses from './file-preview.module.css';

/** Text of a document as models read it, page by page. `at` is the first page to show. */
export function DocumentPages({
  scope,
  id,
  name,
  at,
}: {
  scope: FileScope;
  id: string;
  name: string;
  at: PageChoice | undefined;
}) {
  const t = useText();
  const [choice, setChoice] = useState<PageChoice>(at ?? { page: 1 });
  const { data: read, error } = useQuery({ ...documentQuery(scope, id, choice), placeholderData: keepPreviousData });
  // If the cited page doesn't exist, the document opens at its beginning with a notice.
  const isMissing = error instanceof ApiFailure && error.code === 'not_found';
  if (isMissing) {
    return (
      <>
        <Notice kind="info">{t('files.noSuchPage')}</Notice>
        <DocumentPages key="first" scope={scope} id={id} name={name} at={undefined} />
      </>
    );
  }
  if (error) return <FormFailure failure={error} />;
  if (!read || read.state === 'working') {
    return (
      <>
        <p className={classes.quiet} role="status">
          {t('files.readingLong')}
        </p>
        <div className={classes.bone} aria-busy="true" />
      </>
    );
  }
  if (read.problem)
    return <p className={classes.quiet}>{t('files.noText', { reason: documentProblem(t, read.problem) })}</p>;
  const number = read.page?.number ?? 1;
  const last = read.pages ?? 1;
  return (
    <section aria-label={t('files.previewOf', { name })} className={previewClasses.pages}>
      <nav className={previewClasses.pageBar} aria-label={t('files.pagesOf', { name })}>
        <ActionIcon
          variant="subtle"
          color="gray"
          disabled={number <= 1}
          aria-label={t('files.pageBefore')}
          title={t('files.pageBefore')}
          onClick={() => setChoice({ page: number - 1 })}
        >
          <ChevronLeft size={16} />
        </ActionIcon>
        <span aria-live="polite" className={previewClasses.pageLabel}>
          {t('files.pageOf', { number, last })}
          {read.page && !/^(?:page|part|slide) \d+$/.test(read.page.label) ? ` · ${read.page.label}` : null}
        </span>
        <ActionIcon
          variant="subtle"
          color="gray"
          disabled={number >= last}
          aria-label={t('files.pageAfter')}
          title={t('files.pageAfter')}
          onClick={() => setChoice({ page: number + 1 })}
        >
          <ChevronRight size={16} />
        </ActionIcon>
      </nav>
      {read.warnings.map(({ code, message }) => (
        <p key={code} className={classes.fact}>
          {message}
        </p>
      ))}
      <PageText text={read.page?.text ?? ''} />
    </section>
  );
}

function PageText({ text }: { text: string }) {
  const t = useText();
  const blocks = useMemo(() => textBlocks(text), [text]);
  if (blocks.length === 0) return <p className={classes.quiet}>{t('files.emptyPage')}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <div className={previewClasses.pageText} dir="auto" tabIndex={0}>
      {blocks.map((block, index) =>
        block.kind === 'lines' ? (
          <p key={index}>{block.text}</p>
        ) : (
          <table key={index} className={previewClasses.table}>
            <tbody>
              {block.rows.map((row, at) => (
                <tr key={at}>
                  {row.map((cell, column) => (
                    <td key={column}>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        ),
      )}
    </div>
  );
}

import { ActionIcon, Popover } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Eye } from 'lucide-react';
import type { FileScope } from '../../api/upload.ts';
import type { AttachedFile } from '../../conversation/draft/attached-files.ts';
import { numberLocale } from '../../i18n/format-locale.ts';
import { useText } from '../../i18n/i18n.ts';
import classes from '../files.module.css';
import { modelInput } from '../model-input.ts';
import { documentProblem } from '../preview/document-problem.ts';
import { documentQuery } from '../preview/document-query.ts';
import { formatSize } from '../preview/file-look.ts';

/** Line under an attached file's name: its size and how much of it the model gets. */
export function AttachedFact({ scope, file }: { scope: FileScope; file: AttachedFile }) {
  const t = useText();
  const reach = modelInput(file);
  const size = file.size === undefined ? undefined : formatSize(file.size);
  if (reach === 'document') return <DocumentFact scope={scope} file={file} size={size} />;
  return (
    <span className={classes.fact}>
      {[size, reach === 'name' ? t('files.reachName') : undefined].filter(Boolean).join(' ·\u00a0')}
    </span>
  );
}

function DocumentFact({ scope, file, size }: { scope: FileScope; file: AttachedFile; size: string | undefined }) {
  const t = useText();
  const { data: read, error } = useQuery(documentQuery(scope, file.id));
  if (error) return <span className={classes.fact}>{size}</span>;
  if (!read || read.state === 'working') {
    return <span className={classes.fact}>{[size, t('files.reading')].filter(Boolean).join(' ·\u00a0')}</span>;
  }
  if (read.problem) {
    return (
      <span className={classes.fact} data-kind="problem" role="status">
        {t('files.unreadable', { reason: documentProblem(t, read.problem) })}
      </span>
    );
  }
  const tokens = new Intl.NumberFormat(numberLocale(), { notation: 'compact', maximumFractionDigits: 1 });
  const [warning] = read.warnings;
  return (
    <span className={classes.fact} data-kind={warning ? 'warning' : undefined}>
      {[
        t('files.pages', { count: read.pages ?? 0 }),
        t('files.tokens', { count: read.tokens ?? 0, tokens: tokens.format(read.tokens ?? 0) }),
      ].join(' ·\u00a0')}
      {warning ? ` · ${warning.message}` : null}
    </span>
  );
}

/** Opens the first lines of what the model will read; nothing for files that are no documents. */
export function FirstLines({ scope, file }: { scope: FileScope; file: AttachedFile }) {
  const t = useText();
  const isDocument = modelInput(file) === 'document';
  const { data: read } = useQuery({ ...documentQuery(scope, file.id), enabled: isDocument });
  if (!isDocument || !read?.firstLines) return null;
  const label = t('files.firstLines', { name: file.filename });
  return (
    <Popover position="top-end" width="min(26rem, 92vw)" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon variant="subtle" color="gray" size={26} aria-label={label} title={label}>
          <Eye size={14} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={label}>
        <p className={classes.fact}>{t('files.firstLinesTitle')}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <pre className={classes.firstLines} tabIndex={0} data-autofocus>
          {read.firstLines}
        </pre>
        {read.warnings.map(({ code, message }) => (
          <p key={code} className={classes.fact} data-kind="warning">
            {message}
          </p>
        ))}
      </Popover.Dropdown>
    </Popover>
  );
}

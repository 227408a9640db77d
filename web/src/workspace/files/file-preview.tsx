import 'virtual:texts/rendered';
import type { WorkspaceFile } from '@homeport/contracts/workspace/daemon';
import { useQuery } from '@tanstack/react-query';
import { use, useState } from 'react';
import { readText } from '../../api/api.ts';
import { ThreadActionsContext } from '../../conversation/thread-actions.ts';
import fileClasses from '../../files/files.module.css';
import { extensionOf, type PreviewKind } from '../../files/preview/file-kind.ts';
import previewClasses from '../../files/preview/file-preview.module.css';
import { TableView } from '../../files/preview/table-view.tsx';
import { TwoWays } from '../../files/preview/two-ways.tsx';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { CodeBlock } from '../../markdown/code/code-block.tsx';
import { grammarName } from '../../markdown/code/language-names.ts';
import { Markdown } from '../../markdown/markdown.tsx';
import { maximumSource } from '../../rendered/protocol.ts';
import { RenderedSource } from '../../rendered/rendered-source.tsx';

export type ShownKind = Extract<PreviewKind, 'html' | 'svg' | 'react' | 'markdown' | 'table'>;

/** A file of the workspace as the page, picture, document or table that it is, or its source. It follows the file. */
export function WorkspacePreview({ file, name, kind }: { file: WorkspaceFile; name: string; kind: ShownKind }) {
  const t = useText();
  const [isSource, setSource] = useState(false);
  return (
    <>
      <TwoWays first={t('rendered.preview')} second={t('rendered.source')} isSecond={isSource} onChoose={setSource} />
      {isSource ? (
        <CodeBlock code={file.content} language={grammarName(extensionOf(name)) ?? ''} isClosed isPlain />
      ) : (
        <Shown file={file} name={name} kind={kind} />
      )}
      {file.truncated && (isSource || kind === 'markdown' || kind === 'table') ? (
        <p className={fileClasses.quiet}>{t('files.cut')}</p>
      ) : null}
    </>
  );
}

function Shown({ file, name, kind }: { file: WorkspaceFile; name: string; kind: ShownKind }) {
  if (kind === 'table') return <TableView text={file.content} name={name} />;
  if (kind === 'markdown') {
    return (
      <div className={previewClasses.document}>
        <Markdown text={file.content} isGrowing={false} />
      </div>
    );
  }
  return <Running file={file} name={name} kind={kind} />;
}

function Running({ file, name, kind }: { file: WorkspaceFile; name: string; kind: 'html' | 'svg' | 'react' }) {
  const t = useText();
  const ask = use(ThreadActionsContext)?.ask;
  const { path, modifiedAt } = file;
  const { data: whole, error } = useQuery({
    queryKey: ['workspace-source', path, modifiedAt],
    queryFn: ({ signal }) => readText('GET /api/workspace/download', { path }, signal),
    enabled: file.truncated && file.size <= maximumSource,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
  const source = file.truncated ? whole : file.content;
  if (file.size > maximumSource) return <p className={fileClasses.quiet}>{t('rendered.tooLarge')}</p>;
  if (error) return <FormFailure failure={error} />;
  if (source === undefined) return <div className={fileClasses.bone} aria-busy="true" />;
  const fix = (faults: readonly string[]) =>
    ask?.(`${t('rendered.fixFile', { name: path })}\n\n\`\`\`\n${faults.join('\n')}\n\`\`\``);
  return (
    <RenderedSource kind={kind} source={source} isTypeScript={/\.tsx$/i.test(name)} name={name} onFix={ask && fix} />
  );
}

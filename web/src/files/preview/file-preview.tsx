import type { Artifact } from '@homeport/contracts/files/artifacts';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ApiFailure } from '../../api/api-failure.ts';
import type { FileScope } from '../../api/upload.ts';
import { FormFailure } from '../../forms/notice.tsx';
import { useText } from '../../i18n/i18n.ts';
import { CodeBlock } from '../../markdown/code/code-block.tsx';
import { grammarName } from '../../markdown/code/language-names.ts';
import { Markdown } from '../../markdown/markdown.tsx';
import { maximumSource } from '../../rendered/protocol.ts';
import { RenderedSource } from '../../rendered/rendered-source.tsx';
import { previewAddress } from '../file-address.ts';
import classes from '../files.module.css';
import { fileTextQuery, wholeTextQuery } from '../files-api.ts';
import { modelInput } from '../model-input.ts';
import { DocumentPages } from './document-pages.tsx';
import type { PageChoice } from './document-query.ts';
import { extensionOf, previewKind } from './file-kind.ts';
import previewClasses from './file-preview.module.css';
import { TableView } from './table-view.tsx';
import { TwoWays } from './two-ways.tsx';

/** How many bytes of a text the server shows. */
const shownBytes = 256 * 1024;

type PreviewProps = {
  scope: FileScope;
  file: Artifact;
  /** An earlier version, whose facts `file` has; undefined for the present one. */
  version?: number;
  /** First page to show of a document. */
  at?: PageChoice;
  /** Puts a request into the draft; absent without a composer. */
  onFix?: ((request: string) => void) | undefined;
};

/** A preview of a file by its kind, or a notice that there is none. */
export function FilePreview({ scope, file, version, at, onFix }: PreviewProps) {
  const t = useText();
  const kind = previewKind(file);
  const pages = <DocumentPages key={file.sha256} scope={scope} id={file.id} name={file.filename} at={at} />;
  if (kind === 'image') return <Picture key={file.sha256} scope={scope} file={file} version={version} />;
  if (kind === 'pdf')
    return <Pdf key={file.sha256} scope={scope} file={file} version={version} at={at} pages={pages} />;
  if (kind === 'none') {
    // Models read the present content only.
    return modelInput(file) === 'document' && version === undefined ? (
      pages
    ) : (
      <p className={classes.quiet}>{t('files.noPreview')}</p>
    );
  }
  if (at) return pages;
  if (kind === 'html' || kind === 'svg' || kind === 'react') {
    return <RenderedFile key={file.sha256} scope={scope} file={file} version={version} kind={kind} onFix={onFix} />;
  }
  return <TextPreview scope={scope} file={file} version={version} kind={kind} />;
}

/** The document itself, or the text that models read of it. */
function Pdf({
  scope,
  file,
  version,
  at,
  pages,
}: {
  scope: FileScope;
  file: Artifact;
  version: number | undefined;
  at: PageChoice | undefined;
  pages: ReactNode;
}) {
  const t = useText();
  const [isText, setText] = useState(false);
  const number = at && ('page' in at ? at.page : Number(/^page (\d{1,6})$/i.exec(at.label)?.[1] ?? 1));
  return (
    <>
      {version === undefined ? (
        <TwoWays first={t('files.showDocument')} second={t('files.showText')} isSecond={isText} onChoose={setText} />
      ) : null}
      {isText && version === undefined ? (
        pages
      ) : (
        <iframe
          className={previewClasses.frame}
          src={`${previewAddress(scope, file.id, version)}${number === undefined ? '' : `#page=${number}`}`}
          title={t('files.previewOf', { name: file.filename })}
        />
      )}
    </>
  );
}

/** A page that a model made: running, or its source. */
function RenderedFile({ scope, file, version, kind, onFix }: PreviewProps & { kind: 'html' | 'svg' | 'react' }) {
  const t = useText();
  const [isSource, setSource] = useState(false);
  const { data: source, error } = useQuery({
    ...wholeTextQuery(scope, file, version),
    enabled: file.size <= maximumSource,
  });
  const fix =
    onFix &&
    ((faults: readonly string[]) =>
      onFix(`${t('rendered.fixRequest', { name: file.filename })}\n\n\`\`\`\n${faults.join('\n')}\n\`\`\``));
  return (
    <>
      <TwoWays first={t('rendered.preview')} second={t('rendered.source')} isSecond={isSource} onChoose={setSource} />
      {isSource ? <TextPreview scope={scope} file={file} version={version} kind="text" /> : null}
      {!isSource && file.size > maximumSource ? <p className={classes.quiet}>{t('rendered.tooLarge')}</p> : null}
      {!isSource && error ? <FormFailure failure={error} /> : null}
      {!isSource && source !== undefined ? (
        <RenderedSource
          kind={kind}
          source={source}
          isTypeScript={/\.tsx$/i.test(file.filename)}
          name={file.filename}
          onFix={fix}
        />
      ) : null}
    </>
  );
}

function Picture({ scope, file, version }: { scope: FileScope; file: Artifact; version: number | undefined }) {
  const t = useText();
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <p className={classes.quiet}>{t('files.noPreview')}</p>;
  return (
    <img
      className={previewClasses.large}
      src={previewAddress(scope, file.id, version)}
      alt={file.filename}
      onError={() => setBroken(true)}
    />
  );
}

function TextPreview({
  scope,
  file,
  version,
  kind,
}: {
  scope: FileScope;
  file: Artifact;
  version: number | undefined;
  kind: 'table' | 'markdown' | 'text';
}) {
  const t = useText();
  const { data: text, error } = useQuery(fileTextQuery(scope, file, version));
  if (error instanceof ApiFailure && error.code === 'unsupported_media_type') {
    return <p className={classes.quiet}>{t('files.noPreview')}</p>;
  }
  if (error) return <FormFailure failure={error} />;
  if (text === undefined) return <div className={classes.bone} aria-busy="true" />;
  const isCut = file.size > shownBytes;
  return (
    <>
      {text === '' ? <p className={classes.quiet}>{t('files.empty')}</p> : null}
      {kind === 'table' ? <TableView text={text} name={file.filename} /> : null}
      {kind === 'markdown' ? (
        <div className={previewClasses.document}>
          <Markdown text={text} isGrowing={false} />
        </div>
      ) : null}
      {kind === 'text' && text !== '' ? (
        <CodeBlock code={text} language={grammarName(extensionOf(file.filename)) ?? ''} isClosed isPlain />
      ) : null}
      {isCut ? <p className={classes.quiet}>{t('files.cut')}</p> : null}
    </>
  );
}

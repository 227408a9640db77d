import type { WorkspaceFile } from '@homeport/contracts/workspace/daemon';
import { Button } from '@mantine/core';
import { Download } from 'lucide-react';
import { useState } from 'react';
import fileClasses from '../../files/files.module.css';
import { extensionOf, type PreviewKind, previewKind } from '../../files/preview/file-kind.ts';
import { formatSize } from '../../files/preview/file-look.ts';
import previewClasses from '../../files/preview/file-preview.module.css';
import { dateLocale } from '../../i18n/format-locale.ts';
import { useText } from '../../i18n/i18n.ts';
import { CodeBlock } from '../../markdown/code/code-block.tsx';
import { grammarName } from '../../markdown/code/language-names.ts';
import { type ShownKind, WorkspacePreview } from './file-preview.tsx';
import { nameOf } from './paths.ts';
import { downloadAddress } from './workspace-files.ts';

/** The largest picture that is loaded for viewing; larger ones are downloaded. */
const pictureBytes = 25 * 1024 * 1024;

/** One file of the workspace: its facts, and its content if that can be shown. */
export function FileView({ file }: { file: WorkspaceFile }) {
  const t = useText();
  const name = nameOf(file.path);
  const at = new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeStyle: 'short' });
  return (
    <article className={fileClasses.one}>
      <p className={fileClasses.fact}>
        {[formatSize(file.size), file.mediaType, at.format(new Date(file.modifiedAt))].join(' ·\u00a0')}
      </p>
      <div className={fileClasses.oneActions}>
        <Button
          component="a"
          href={downloadAddress(file.path)}
          download={name}
          size="xs"
          variant="default"
          leftSection={<Download size={15} aria-hidden />}
        >
          {t('files.download')}
        </Button>
      </div>
      <Content file={file} name={name} />
    </article>
  );
}

function Content({ file, name }: { file: WorkspaceFile; name: string }) {
  const t = useText();
  const { encoding, content } = file;
  if (/^image\/(?:png|jpeg|gif|webp|avif|bmp)$/.test(file.mediaType) && file.size <= pictureBytes) {
    return <Picture key={file.modifiedAt} file={file} name={name} />;
  }
  if (encoding !== 'utf-8') return <p className={fileClasses.quiet}>{t('files.noPreview')}</p>;
  if (content === '') return <p className={fileClasses.quiet}>{t('files.empty')}</p>;
  const kind = previewKind({ mediaType: file.mediaType, filename: name });
  if (isShown(kind)) return <WorkspacePreview file={file} name={name} kind={kind} />;
  return (
    <>
      <CodeBlock code={content} language={grammarName(extensionOf(name)) ?? ''} isClosed isPlain />
      {file.truncated ? <p className={fileClasses.quiet}>{t('files.cut')}</p> : null}
    </>
  );
}

function isShown(kind: PreviewKind): kind is ShownKind {
  return ['html', 'svg', 'react', 'markdown', 'table'].includes(kind);
}

function Picture({ file, name }: { file: WorkspaceFile; name: string }) {
  const t = useText();
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <p className={fileClasses.quiet}>{t('files.noPreview')}</p>;
  const isWhole = file.encoding === 'base64' && !file.truncated;
  return (
    <img
      className={previewClasses.large}
      src={isWhole ? `data:${file.mediaType};base64,${file.content}` : downloadAddress(file.path)}
      alt={name}
      onError={() => setBroken(true)}
    />
  );
}

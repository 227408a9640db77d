import type { OpenedShare } from '@homeport/contracts/sharing';
import { Download } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '../i18n/i18n.ts';
import { safeLink } from '../markdown/links/links.ts';
import { Markdown } from '../markdown/markdown.tsx';
import classes from './share-page.module.css';

type SharedMessageRecord = OpenedShare['messages'][number];
type SharedFile = OpenedShare['files'][number];
type SharedPart = SharedMessageRecord['parts'][number];

/** One message of a share. Kinds of parts that are not known here show nothing. */
export function SharedMessage({ message, files }: { message: SharedMessageRecord; files: readonly SharedFile[] }) {
  const t = useText();
  const { role, parts, status } = message;
  return (
    <article className={classes.message} data-role={role}>
      <h2 className="visually-hidden">{t(role === 'user' ? 'share.you' : 'share.answer')}</h2>
      {parts.map((part, index) => (
        <Part key={index} part={part} files={files} />
      ))}
      <Sources parts={parts} />
      {status === 'complete' ? null : <p className={classes.facts}>{t('share.unfinished')}</p>}
    </article>
  );
}

/** The files of a share, to download. */
export function SharedFiles({ files }: { files: readonly SharedFile[] }) {
  const t = useText();
  return (
    <ul className={classes.files} aria-label={t('share.files')}>
      {files.map((file) => (
        <li key={file.n}>
          <FileLink file={file} />
        </li>
      ))}
    </ul>
  );
}

/** The web pages and documents that an answer names, under the numbers that its text gives them. */
function Sources({ parts }: { parts: readonly SharedPart[] }) {
  const t = useText();
  const sources = parts.flatMap(sourceOf);
  if (sources.length === 0) return null;
  return (
    <section className={classes.facts} aria-label={t('message.sources')}>
      <ol>
        {sources.map(({ href, number, title }, index) => (
          <li key={index} value={Number.isSafeInteger(number) ? number : undefined}>
            {href === undefined ? (
              <bdi>{title}</bdi>
            ) : (
              <a href={href} target="_blank" rel="noopener noreferrer nofollow">
                <bdi>{title}</bdi>
              </a>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

type Source = { href: string | undefined; number: number; title: string };

function sourceOf({ type, sourceId, url, title }: SharedPart): Source[] {
  const number = Number(sourceId);
  if (type === 'source-document') return typeof title === 'string' ? [{ href: undefined, number, title }] : [];
  const link = type === 'source-url' ? safeLink(String(url)) : undefined;
  if (link?.kind !== 'external') return [];
  return [{ href: link.href, number, title: typeof title === 'string' ? title : link.href }];
}

function Part({ part, files }: { part: SharedPart; files: readonly SharedFile[] }) {
  const t = useText();
  switch (part.type) {
    case 'text':
      return <Markdown text={String(part.text)} isGrowing={false} />;
    case 'reasoning':
      return (
        <Fold title={t('share.reasoning')}>
          <div dir="auto">{String(part.text)}</div>
        </Fold>
      );
    case 'dynamic-tool':
      return (
        <Fold title={t('share.tool', { name: String(part.toolName) })}>
          <Value value={part.input} />
          <Value value={part.output ?? part.errorText} />
        </Fold>
      );
    case 'file':
      return <FileView part={part} files={files} />;
    default:
      return null;
  }
}

function Fold({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details className={classes.fold}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === undefined || value === null) return null;
  return <pre className={classes.value}>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>;
}

/** Pictures that browsers show without running anything. */
const picture = /^image\/(?:png|jpeg|gif|webp)$/;
const ownPicture = /^data:image\/(?:png|jpeg|gif|webp);base64,/;

function FileView({ part, files }: { part: SharedPart; files: readonly SharedFile[] }) {
  const t = useText();
  const url = String(part.url);
  const name = typeof part.filename === 'string' ? part.filename : t('share.files');
  if (ownPicture.test(url)) return <img src={url} alt={name} className={classes.picture} />;
  const file = files.find(({ n }) => url === `share-file:${n}`);
  if (file === undefined) return <span className={classes.facts}>{name}</span>;
  if (picture.test(file.mediaType)) return <img src={file.url} alt={file.filename} className={classes.picture} />;
  return <FileLink file={file} />;
}

function FileLink({ file }: { file: SharedFile }) {
  return (
    <a href={file.url} download={file.filename} className={classes.file}>
      <Download size={15} aria-hidden />
      <bdi>{file.filename}</bdi>
    </a>
  );
}

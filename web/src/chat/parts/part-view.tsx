import type { DynamicToolPart, FilePart, MessagePart } from '@homeport/contracts/chat/frames';
import { Link as RouterLink } from '@tanstack/react-router';
import { Brain, ChevronRight, Info, ListChecks } from 'lucide-react';
import { memo, useState } from 'react';
import { useThreadActions } from '../../conversation/thread-actions.ts';
import { fileIcon } from '../../files/preview/file-kind.ts';
import { wordFailure } from '../../i18n/error-texts.ts';
import { type Translate, useText } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import { useAccess } from '../../layout/use-access.ts';
import { safeLink } from '../../markdown/links/links.ts';
import { Markdown } from '../../markdown/markdown.tsx';
import { ToolCall } from '../lazy-parts.ts';
import classes from './part-view.module.css';
import { isLongRunning, toolCallTexts } from './tool-call-texts.ts';
import { useDuration } from './use-duration.ts';

const ConnectButton = lazyComponent(async () => (await import('../../mcp/connect-button.tsx')).ConnectButton);
const ParameterNotice = lazyComponent(async () => (await import('./parameter-notice.tsx')).ParameterNotice);
const ServedByLine = lazyComponent(async () => (await import('./served-by-line.tsx')).ServedByLine);
const ArtifactChip = lazyComponent(
  async () => (await import('../../files/attachments/artifact-chip.tsx')).ArtifactChip,
);

type PartProps = {
  part: MessagePart;
  isLive: boolean /** The same for this part as long as its message lives. */;
  name: string;
};

/** One part of a message. Unknown kinds render nothing. */
export function PartView({ part, isLive, name }: PartProps) {
  switch (part.type) {
    case 'text':
      return <TextView text={part.text} isGrowing={isLive && part.state === 'streaming'} />;
    case 'reasoning':
      return <Reasoning text={part.text} isGrowing={isLive && part.state === 'streaming'} name={name} />;
    case 'dynamic-tool':
      return <WitnessedCall part={part} isLive={isLive} name={name} />;
    case 'file':
      return <FileView part={part} />;
    case 'data-notice':
      return <Notice data={part.data} />;
    case 'data-served-by':
      return <ServedByLine part={part} />;
    default:
      return null;
  }
}

const TextView = memo(function TextView({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  return text === '' ? null : <Markdown text={text} isGrowing={isGrowing} />;
});

const Reasoning = memo(function Reasoning({
  text,
  isGrowing,
  name,
}: {
  text: string;
  isGrowing: boolean;
  name: string;
}) {
  const t = useText();
  const seconds = useDuration(name, isGrowing);
  const [isOpen, setOpen] = useState(false);
  if (text.trim() === '') return null;
  return (
    <details className={classes.fold} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <ChevronRight size={15} aria-hidden className={classes.chevron} />
        <Brain size={15} aria-hidden />
        <span className={isGrowing ? classes.shimmer : undefined}>{reasoningText(t, isGrowing, seconds)}</span>
      </summary>
      {/* Closed thoughts are not laid out, but the browser’s search finds them. */}
      <div className={classes.reasoning} data-plain={!isOpen || undefined} dir="auto">
        {isOpen ? <Markdown text={text} isGrowing={isGrowing} isAside /> : text}
      </div>
    </details>
  );
});

function reasoningText(t: Translate, isGrowing: boolean, seconds: number | undefined): string {
  if (seconds === undefined) return t(isGrowing ? 'reasoning.running' : 'reasoning.done');
  return t(isGrowing ? 'reasoning.runningFor' : 'reasoning.doneAfter', { seconds });
}

/** Many steps on the way to an answer, as one line that unfolds. The step at work is named on it. */
export function StepsView({ parts, isLive, name }: { parts: readonly MessagePart[]; isLive: boolean; name: string }) {
  const t = useText();
  const tools = parts.filter((part) => part.type === 'dynamic-tool');
  const current = isLive ? tools.findLast(isLongRunning) : undefined;
  const failed = tools.filter((tool) => toolCallTexts(tool, isLive, t).isFailed).length;
  return (
    <details className={classes.fold} data-part="steps">
      <summary>
        <ChevronRight size={15} aria-hidden className={classes.chevron} />
        <ListChecks size={15} aria-hidden />
        <span>{t('tool.steps', { count: tools.length })}</span>
        {current ? <span className={classes.shimmer}>{toolCallTexts(current, true, t).title}</span> : null}
        {failed > 0 ? <span className={classes.failed}>{t('tool.failedSteps', { count: failed })}</span> : null}
      </summary>
      <div className={classes.steps}>
        {parts.map((part, index) => (
          <PartView key={index} part={part} isLive={isLive} name={`${name}.${index}`} />
        ))}
      </div>
    </details>
  );
}

/** Images inside the message itself. Any other URL points to a third-party server and is never loaded automatically. */
const ownPicture = /^data:image\/(?:png|jpeg|gif|webp);base64,/;

export function FileView({ part }: { part: FilePart }) {
  const t = useText();
  const { chatId } = useThreadActions();
  const name = part.filename ?? t('message.file');
  const link = safeLink(part.url);
  if (link?.kind === 'artifact') {
    return <ArtifactChip chatId={chatId} id={link.id} filename={name} mediaType={part.mediaType} />;
  }
  if (ownPicture.test(part.url)) return <img src={part.url} alt={name} className={classes.picture} />;
  const Icon = fileIcon({ filename: name, mediaType: part.mediaType });
  const content = (
    <>
      <Icon size={15} aria-hidden />
      {name}
    </>
  );
  // Data URLs can be downloaded; other URLs are never requested.
  if (!part.url.startsWith('data:')) return <span className={classes.file}>{content}</span>;
  return (
    <a href={part.url} download={name} className={classes.file}>
      {content}
    </a>
  );
}

/** Notice of the service between parts; for tools that are no longer trusted with a link to the settings. */
function Notice({ data }: { data: unknown }) {
  const t = useText();
  const { canEditTools } = useAccess();
  const code = typeof data === 'object' && data !== null && 'code' in data ? String(data.code) : '';
  const isOfTools = code.startsWith('mcp');
  const written = typeof data === 'object' && data !== null && 'message' in data ? data.message : undefined;
  if (typeof written !== 'string') return null;
  const message = wordFailure({ code: `notice.${code}`, message: written, details: data });
  const serverId = typeof data === 'object' && data !== null && 'serverId' in data ? data.serverId : undefined;
  if (typeof serverId === 'string') {
    return (
      <div className={classes.notice}>
        <Info size={15} aria-hidden />
        <span>
          {message} <ConnectButton serverId={serverId} variant="default" />
        </span>
      </div>
    );
  }
  return (
    <p className={classes.notice}>
      <Info size={15} aria-hidden />
      <span>
        {code === 'parameter_refused' ? <ParameterNotice details={detailsOf(data)} message={message} /> : message}
        {isOfTools && canEditTools ? (
          <>
            {' '}
            <RouterLink to="/settings/tools">{t('tool.settings')}</RouterLink>
          </>
        ) : null}
      </span>
    </p>
  );
}

function detailsOf(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'details' in data ? data.details : undefined;
}

/** The call is loaded on demand, and a short answer can end before: whether it ran in view is kept from the start. */
function WitnessedCall(props: { part: DynamicToolPart; isLive: boolean; name: string }) {
  const [wasLive, setWasLive] = useState(props.isLive);
  if (props.isLive && !wasLive) setWasLive(true);
  return <ToolCall {...props} wasLive={wasLive} />;
}

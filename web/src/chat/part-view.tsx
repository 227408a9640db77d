import type { DynamicToolPart, FilePart, MessagePart } from '@homeport/contracts/frames';
import { Link as RouterLink } from '@tanstack/react-router';
import { Brain, ChevronRight, FileText, Info, Link, ListChecks, Terminal, Wrench } from 'lucide-react';
import { memo, type ReactNode, useEffect, useState } from 'react';
import { useThreadActions } from '../conversation/thread-actions.ts';
import { lazyPart } from '../frame/lazy-part.tsx';
import { type TextId, type Translate, useText } from '../i18n.ts';
import { safeLink } from '../markdown/links.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { toolTitle } from '../mcp/tool-title.ts';
import classes from './part-view.module.css';
import { useDuration } from './use-duration.ts';

const ArtifactChip = lazyPart(async () => (await import('../files/artifact-chip.tsx')).ArtifactChip);
const ToolDetails = lazyPart(async () => (await import('../workspace/tool-details.tsx')).ToolDetails);
const PublishedFile = lazyPart(async () => (await import('../workspace/published-file.tsx')).PublishedFile);
const ToolApproval = lazyPart(async () => (await import('../mcp/tool-approval.tsx')).ToolApproval);

/** Characters of a tool's input or output that are put on the page. */
const shownCharacters = 20_000;

type PartProps = {
  part: MessagePart;
  isLive: boolean /** The same for this part as long as its message lives. */;
  name: string;
};

/** One part of a message. Kinds that this client does not know yet show nothing. */
export function PartView({ part, isLive, name }: PartProps) {
  switch (part.type) {
    case 'text':
      return <TextView text={part.text} isGrowing={isLive && part.state === 'streaming'} />;
    case 'reasoning':
      return <Reasoning text={part.text} isGrowing={isLive && part.state === 'streaming'} name={name} />;
    case 'dynamic-tool':
      return <ToolCall part={part} isLive={isLive} name={name} />;
    case 'file':
      return <FileView part={part} />;
    case 'data-notice':
      return <Notice data={part.data} />;
    default:
      return <Source part={part} />;
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
  if (text.trim() === '') return null;
  return (
    <details className={classes.fold}>
      <summary>
        <ChevronRight size={15} aria-hidden className={classes.chevron} />
        <Brain size={15} aria-hidden />
        <span className={isGrowing ? classes.shimmer : undefined}>{reasoningText(t, isGrowing, seconds)}</span>
      </summary>
      <div className={classes.reasoning} dir="auto">
        {text}
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
  const current = isLive ? tools.findLast(isOpenEnded) : undefined;
  const failed = tools.filter((tool) => tool.state === 'output-error').length;
  return (
    <details className={classes.fold} data-part="steps">
      <summary>
        <ChevronRight size={15} aria-hidden className={classes.chevron} />
        <ListChecks size={15} aria-hidden />
        <span>{t('tool.steps', { count: tools.length })}</span>
        {current ? (
          <>
            <ToolName name={current.toolName} />
            <span className={classes.shimmer}>{t(textOfState(current, true))}</span>
          </>
        ) : null}
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

/** The tool's own name, and behind it the server that it is of. */
function ToolName({ name }: { name: string }) {
  const { server, tool } = toolTitle(name);
  return (
    <>
      <code className={classes.tool} title={name}>
        {tool}
      </code>
      {server === undefined ? null : <span className={classes.state}>{server}</span>}
    </>
  );
}

function isOpenEnded(tool: DynamicToolPart): boolean {
  return tool.preliminary === true || ['input-streaming', 'input-available', 'approval-responded'].includes(tool.state);
}

const stateText: Record<DynamicToolPart['state'], TextId> = {
  'input-streaming': 'tool.preparing',
  'input-available': 'tool.running',
  'approval-requested': 'tool.waiting',
  'approval-responded': 'tool.running',
  'output-available': 'tool.done',
  'output-error': 'tool.failed',
  'output-denied': 'tool.denied',
};

function textOfState({ state, preliminary }: DynamicToolPart, isRunning: boolean): TextId {
  return preliminary === true && isRunning ? 'tool.running' : stateText[state];
}

/** The workspace's own tools, and the argument that says what a call is about. */
const ownTools: Readonly<Record<string, string>> = {
  bash: 'command',
  read_file: 'path',
  write_file: 'path',
  edit_file: 'path',
  list_files: 'path',
  search_files: 'pattern',
  publish_artifact: 'path',
};

function ToolCall({ part, isLive, name }: { part: DynamicToolPart; isLive: boolean; name: string }) {
  const t = useText();
  const isRunning = isLive && isOpenEnded(part);
  const seconds = useDuration(name, isRunning);
  const [isOpen, setOpen] = useOpenWhile(isRunning && part.preliminary === true);
  const isOwn = Object.hasOwn(ownTools, part.toolName);
  if (part.state === 'approval-requested') return <ToolApproval part={part} isLive={isLive} />;
  return (
    <>
      <details
        className={classes.fold}
        data-state={part.state}
        open={isOpen}
        onToggle={(event) => setOpen(event.currentTarget.open)}
      >
        <summary>
          <ChevronRight size={15} aria-hidden className={classes.chevron} />
          {isOwn ? <Terminal size={15} aria-hidden /> : <Wrench size={15} aria-hidden />}
          <ToolName name={part.toolName} />
          {isOwn ? <Subject part={part} /> : null}
          <span className={isRunning ? classes.shimmer : classes.state}>{t(textOfState(part, isRunning))}</span>
          {seconds === undefined ? null : <span className={classes.state}>{t('tool.seconds', { seconds })}</span>}
        </summary>
        {isOwn && isOpen ? <ToolDetails part={part} isRunning={isRunning} /> : null}
        {isOwn ? null : (
          <div className={classes.details}>
            <Value label={t('tool.input')} value={part.input} />
            {part.state === 'output-available' ? <Value label={t('tool.output')} value={part.output} /> : null}
            {part.errorText === undefined ? null : <Value label={t('tool.error')} value={part.errorText} />}
          </div>
        )}
      </details>
      {part.toolName === 'publish_artifact' && part.state === 'output-available' ? <PublishedFile part={part} /> : null}
    </>
  );
}

/** Open as long as there is something to watch, unless somebody says otherwise. */
function useOpenWhile(isWatched: boolean): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(isWatched);
  useEffect(() => setOpen(isWatched), [isWatched]);
  return [isOpen, setOpen];
}

/** What a call is about, on its one line. */
function Subject({ part: { toolName, input } }: { part: DynamicToolPart }) {
  const value = typeof input === 'object' && input !== null ? Reflect.get(input, ownTools[toolName] ?? '') : undefined;
  if (typeof value !== 'string' || value === '') return null;
  return (
    <span className={classes.subject} title={value.slice(0, 1000)} dir="ltr">
      {value.slice(0, 200)}
    </span>
  );
}

function Value({ label, value }: { label: string; value: unknown }) {
  const t = useText();
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return (
    <div>
      <div className={classes.label}>{label}</div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre className={classes.value} tabIndex={0} dir="auto">
        {withLinks(text.slice(0, shownCharacters))}
      </pre>
      {text.length > shownCharacters ? (
        <div className={classes.label}>{t('tool.cut', { count: shownCharacters })}</div>
      ) : null}
    </div>
  );
}

/** Addresses in plain text as links. */
function withLinks(text: string): ReactNode {
  return text.split(/(https?:\/\/[^\s<>"'`\])}]+)/g).map((piece, index) => {
    const link = index % 2 === 1 ? safeLink(piece) : undefined;
    if (link?.kind !== 'external') return piece;
    return (
      <a key={index} href={link.href} target="_blank" rel="noopener noreferrer nofollow">
        {piece}
      </a>
    );
  });
}

/** Pictures that came with the message itself. Any other address is somebody's server, and is never asked by itself. */
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
  const content = (
    <>
      <FileText size={15} aria-hidden />
      {name}
    </>
  );
  // What came with the message itself can be kept; no other address is ever asked.
  if (!part.url.startsWith('data:')) return <span className={classes.file}>{content}</span>;
  return (
    <a href={part.url} download={name} className={classes.file}>
      {content}
    </a>
  );
}

/** Where an answer found something; the SDK's source parts are not among those the service writes itself. */
function Source({ part }: { part: { type: string } }) {
  if (part.type !== 'source-url' || !('url' in part) || typeof part.url !== 'string') return null;
  const link = safeLink(part.url);
  if (link?.kind !== 'external') return null;
  const title = 'title' in part && typeof part.title === 'string' && part.title !== '' ? part.title : link.href;
  return (
    <a href={link.href} target="_blank" rel="noopener noreferrer nofollow" title={link.href} className={classes.file}>
      <Link size={14} aria-hidden />
      {title.slice(0, 200)}
    </a>
  );
}

/** What the service has to say in between; of tools that are no longer trusted it also says where to look. */
function Notice({ data }: { data: unknown }) {
  const t = useText();
  const isOfTools = typeof data === 'object' && data !== null && 'code' in data && String(data.code).startsWith('mcp');
  const message = typeof data === 'object' && data !== null && 'message' in data ? data.message : undefined;
  if (typeof message !== 'string') return null;
  return (
    <p className={classes.notice}>
      <Info size={15} aria-hidden />
      <span>
        {message}
        {isOfTools ? (
          <>
            {' '}
            <RouterLink to="/settings/tools">{t('tool.settings')}</RouterLink>
          </>
        ) : null}
      </span>
    </p>
  );
}

import type { DynamicToolPart } from '@homeport/contracts/chat/frames';
import { Link } from '@tanstack/react-router';
import { ChevronRight, FileText, Terminal, Wrench } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { plannedIn } from '../../agent/plan-of.ts';
import { useThreadActions } from '../../conversation/thread-actions.ts';
import { calledPath } from '../../conversation/workspace-paths.ts';
import { useText } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../layout/lazy-component.tsx';
import { safeLink } from '../../markdown/links/links.ts';
import { useWrittenFile } from '../../workspace/files/use-written-file.ts';
import classes from './part-view.module.css';
import { isOwnTool, toolCallTexts } from './tool-call-texts.ts';
import { useDuration } from './use-duration.ts';

const ToolDetails = lazyComponent(async () => (await import('../../workspace/tool-details.tsx')).ToolDetails);
const PublishedFile = lazyComponent(
  async () => (await import('../../workspace/files/published-file.tsx')).PublishedFile,
);
const OpenedApp = lazyComponent(async () => (await import('../../workspace/previews/opened-app.tsx')).OpenedApp);
const PlanList = lazyComponent(async () => (await import('../../agent/plan-list.tsx')).PlanList);
const ToolApproval = lazyComponent(async () => (await import('../../mcp/approvals/tool-approval.tsx')).ToolApproval);

/** Characters of a tool's input or output that are put on the page. */
const shownCharacters = 20_000;

/** A tool call as one line that unfolds; a call that waits for the person as a card. */
type Props = { part: DynamicToolPart; isLive: boolean; wasLive: boolean; name: string };

export function ToolCall({ part, isLive, wasLive, name }: Props) {
  const t = useText();
  const words = toolCallTexts(part, isLive, t);
  const watched = useDuration(name, words.isRunning);
  const seconds = words.seconds ?? watched;
  const isOwn = isOwnTool(part.toolName);
  const [isOpen, setOpen] = useOpenWhile(isOwn && words.isRunning && part.preliminary === true);
  useWrittenFile(part, wasLive);
  const planned = plannedIn(part);
  if (planned !== undefined && planned.length > 0) return <PlanList items={planned} />;
  if (part.state === 'approval-requested') return <ToolApproval part={part} isLive={isLive} />;
  const Icon = part.toolName === 'bash' ? Terminal : isOwn ? FileText : Wrench;
  const isOfFile = /^(?:read|write|edit)_file$/.test(part.toolName) && part.state === 'output-available';
  const path = isOfFile ? calledPath(part.input) : undefined;
  return (
    <>
      <div className={classes.call}>
        <details
          className={classes.fold}
          data-state={part.state}
          data-failed={words.isFailed || undefined}
          open={isOpen}
          onToggle={(event) => setOpen(event.currentTarget.open)}
        >
          <summary>
            <ChevronRight size={15} aria-hidden className={classes.chevron} />
            <Icon size={15} aria-hidden />
            <span className={words.isRunning ? classes.shimmer : classes.words} title={part.toolName}>
              {words.title}
            </span>
            {words.subject === undefined ? null : (
              <span className={classes.subject} title={words.subject.slice(0, 1000)} dir="ltr">
                {words.subject.slice(0, 200)}
              </span>
            )}
            {words.state === undefined ? null : <span className={classes.state}>{words.state}</span>}
            {seconds === undefined ? null : <span className={classes.state}>{t('tool.seconds', { seconds })}</span>}
          </summary>
          {isOwn && isOpen ? <ToolDetails part={part} isRunning={words.isRunning} /> : null}
          {isOwn ? null : (
            <div className={classes.details}>
              <Value label={t('tool.input')} value={part.input} />
              {part.state === 'output-available' && !words.isRunning ? (
                <Value label={t('tool.output')} value={part.output} />
              ) : null}
              {part.errorText === undefined ? null : <Value label={t('tool.error')} value={part.errorText} />}
            </div>
          )}
        </details>
        {path === undefined ? null : <FileLink path={path} />}
      </div>
      {part.toolName === 'publish_artifact' && part.state === 'output-available' ? <PublishedFile part={part} /> : null}
      {part.toolName === 'preview' && part.state === 'output-available' ? <OpenedApp part={part} /> : null}
    </>
  );
}

/** A file of the workspace, which opens beside the conversation. */
function FileLink({ path }: { path: string }) {
  const { chatId } = useThreadActions();
  return (
    <Link
      to="/c/$chatId"
      params={{ chatId }}
      search={{ panel: 'workspace', path }}
      resetScroll={false}
      className={classes.path}
      title={path}
      dir="ltr"
    >
      {path.slice(2)}
    </Link>
  );
}

/** Open while the call has something to watch, unless the person opened or closed it. */
function useOpenWhile(isWatched: boolean): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(isWatched);
  useEffect(() => setOpen(isWatched), [isWatched]);
  return [isOpen, setOpen];
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

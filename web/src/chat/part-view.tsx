import type { DynamicToolPart, MessagePart } from '@homeport/contracts/frames';
import { Brain, ChevronRight, FileText, Info, Wrench } from 'lucide-react';
import { memo } from 'react';
import { type TextId, useText } from '../i18n.ts';
import { Markdown } from '../markdown/markdown.tsx';
import classes from './part-view.module.css';

/** Characters of a tool's input or output that are put on the page. */
const shownCharacters = 20_000;

/** One part of a message. Kinds that this client does not know yet show nothing. */
export function PartView({ part, isLive }: { part: MessagePart; isLive: boolean }) {
  switch (part.type) {
    case 'text':
      return <TextView text={part.text} isGrowing={isLive && part.state === 'streaming'} />;
    case 'reasoning':
      return <Reasoning text={part.text} isGrowing={isLive && part.state === 'streaming'} />;
    case 'dynamic-tool':
      return <ToolCall part={part} isLive={isLive} />;
    case 'file':
      return <FileChip name={part.filename} />;
    case 'data-notice':
      return <Notice data={part.data} />;
    default:
      return null;
  }
}

const TextView = memo(function TextView({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  return text === '' ? null : <Markdown text={text} isGrowing={isGrowing} />;
});

const Reasoning = memo(function Reasoning({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  const t = useText();
  if (text.trim() === '') return null;
  return (
    <details className={classes.fold}>
      <summary>
        <ChevronRight size={15} aria-hidden className={classes.chevron} />
        <Brain size={15} aria-hidden />
        <span className={isGrowing ? classes.shimmer : undefined}>
          {t(isGrowing ? 'reasoning.running' : 'reasoning.done')}
        </span>
      </summary>
      <div className={classes.reasoning} dir="auto">
        {text}
      </div>
    </details>
  );
});

const stateText: Record<DynamicToolPart['state'], TextId> = {
  'input-streaming': 'tool.preparing',
  'input-available': 'tool.running',
  'approval-requested': 'tool.waiting',
  'output-available': 'tool.done',
  'output-error': 'tool.failed',
};

function ToolCall({ part, isLive }: { part: DynamicToolPart; isLive: boolean }) {
  const t = useText();
  const isOpenEnded = part.state === 'input-streaming' || part.state === 'input-available';
  return (
    <details className={classes.fold} data-state={part.state}>
      <summary>
        <ChevronRight size={15} aria-hidden className={classes.chevron} />
        <Wrench size={15} aria-hidden />
        <code className={classes.tool}>{part.toolName}</code>
        <span className={isLive && isOpenEnded ? classes.shimmer : classes.state}>{t(stateText[part.state])}</span>
      </summary>
      <div className={classes.details}>
        <Value label={t('tool.input')} value={part.input} />
        {part.state === 'output-available' ? <Value label={t('tool.output')} value={part.output} /> : null}
        {part.errorText === undefined ? null : <Value label={t('tool.error')} value={part.errorText} />}
      </div>
    </details>
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
        {text.slice(0, shownCharacters)}
      </pre>
      {text.length > shownCharacters ? (
        <div className={classes.label}>{t('tool.cut', { count: shownCharacters })}</div>
      ) : null}
    </div>
  );
}

function FileChip({ name }: { name: string | undefined }) {
  const t = useText();
  return (
    <span className={classes.file}>
      <FileText size={15} aria-hidden />
      {name ?? t('message.file')}
    </span>
  );
}

function Notice({ data }: { data: unknown }) {
  const message = typeof data === 'object' && data !== null && 'message' in data ? data.message : undefined;
  if (typeof message !== 'string') return null;
  return (
    <p className={classes.notice}>
      <Info size={15} aria-hidden />
      {message}
    </p>
  );
}

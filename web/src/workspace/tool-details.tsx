import 'virtual:texts/workspace';
import type { DynamicToolPart } from '@homeport/contracts/chat/frames';
import { type CommandEnd, isCommandResult } from '@homeport/contracts/workspace/workspace-tools';
import { type ReactNode, useEffect, useRef } from 'react';
import { formatSize } from '../files/preview/file-look.ts';
import { useText } from '../i18n/i18n.ts';
import { CodeBlock } from '../markdown/code/code-block.tsx';
import { grammarName } from '../markdown/code/language-names.ts';
import classes from './tool-details.module.css';
import { readEdits, textOf } from './tool-output.ts';

/** Characters of a tool's text that are put on the page. */
const shownCharacters = 20_000;

/** Input and output of a workspace tool's call, rendered by tool. */
export function ToolDetails({ part, isRunning }: { part: DynamicToolPart; isRunning: boolean }) {
  const t = useText();
  const { toolName, input, output, errorText } = part;
  return (
    <div className={classes.details}>
      {toolName === 'bash' ? <Command input={input} /> : null}
      {toolName === 'edit_file' ? <Edits input={input} /> : null}
      {toolName === 'write_file' ? <Written input={input} /> : null}
      {toolName === 'delegate' ? (
        <Block label={t('workspace.toolTask')} text={textOf(input, 'task') ?? ''} isGrowing={false} />
      ) : null}
      {output === undefined ? null : toolName === 'delegate' ? (
        <Delegated output={output} isRunning={isRunning} />
      ) : toolName === 'bash' ? (
        <Output output={output} isRunning={isRunning} />
      ) : (
        <Block label={t('workspace.toolOutput')} text={publishedText(output) ?? asText(output)} isGrowing={false} />
      )}
      {errorText === undefined ? null : <Block label={t('tool.error')} text={errorText} isGrowing={false} />}
    </div>
  );
}

function Command({ input }: { input: unknown }) {
  const t = useText();
  const command = textOf(input, 'command');
  if (command === undefined) return <Block label={t('tool.input')} text={asText(input)} isGrowing={false} />;
  return (
    <Labelled label={t('workspace.toolCommand')}>
      <CodeBlock code={command.slice(0, shownCharacters)} language="bash" isClosed />
    </Labelled>
  );
}

function Output({ output, isRunning }: { output: unknown; isRunning: boolean }) {
  const t = useText();
  if (isRunning || !isCommandResult(output)) {
    return <Block label={t('workspace.toolOutput')} text={asText(output)} isGrowing={isRunning} />;
  }
  const { text, end, milliseconds } = output;
  return (
    <>
      <Block
        label={t('workspace.toolOutput')}
        text={text === '' ? t('workspace.toolNoOutput') : text}
        isGrowing={false}
      />
      <p className={classes.end} data-failed={hasFailed(end) || undefined}>
        {endText(end, t)}
        {milliseconds === undefined ? null : (
          <span>{` · ${t('tool.seconds', { seconds: Math.round(milliseconds / 10) / 100 })}`}</span>
        )}
      </p>
    </>
  );
}

/** The steps of a delegate, and its answer. */
function Delegated({ output, isRunning }: { output: unknown; isRunning: boolean }) {
  const t = useText();
  const answer = textOf(output, 'answer');
  if (answer === undefined)
    return <Block label={t('workspace.toolSteps')} text={asText(output)} isGrowing={isRunning} />;
  const steps: unknown = typeof output === 'object' && output !== null ? Reflect.get(output, 'steps') : undefined;
  const lines = Array.isArray(steps)
    ? steps.map((step) =>
        [textOf(step, 'state') === 'failed' ? '✗' : '✓', textOf(step, 'tool'), textOf(step, 'subject')].join(' '),
      )
    : [];
  return (
    <>
      {lines.length === 0 ? null : <Block label={t('workspace.toolSteps')} text={lines.join('\n')} isGrowing={false} />}
      <Block label={t('workspace.toolAnswer')} text={answer} isGrowing={false} />
    </>
  );
}

function hasFailed(end: CommandEnd): boolean {
  return end.kind === 'exit' ? end.code !== 0 : end.kind !== 'running';
}

function endText(end: CommandEnd, t: ReturnType<typeof useText>): string {
  if (end.kind === 'exit') return t('workspace.toolExit', { code: end.code });
  if (end.kind === 'signal') return t('workspace.toolKilled', { signal: end.signal });
  return t(end.kind === 'timeout' ? 'workspace.toolTimedOut' : 'workspace.running');
}

function Written({ input }: { input: unknown }) {
  const t = useText();
  const content = textOf(input, 'content');
  if (content === undefined) return null;
  const extension = /\.([^./]+)$/.exec(textOf(input, 'path') ?? '')?.[1] ?? '';
  const language = grammarName(extension.toLowerCase()) ?? '';
  return (
    <Labelled label={t('workspace.toolWritten')}>
      <CodeBlock
        code={content.slice(0, shownCharacters)}
        language={language}
        isClosed
        isPlain={content.length > shownCharacters}
      />
      <Cut length={content.length} />
    </Labelled>
  );
}

function Edits({ input }: { input: unknown }) {
  const t = useText();
  const edits = readEdits(input);
  if (edits.length === 0) return null;
  return (
    <Labelled label={t('workspace.toolChange')}>
      {edits.map(({ oldText, newText }, index) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <pre key={index} className={classes.diff} tabIndex={0} dir="auto">
          <Lines kind="del" text={oldText} label={t('workspace.toolRemoved')} />
          <Lines kind="ins" text={newText} label={t('workspace.toolAdded')} />
        </pre>
      ))}
    </Labelled>
  );
}

function Lines({ kind: Kind, text, label }: { kind: 'del' | 'ins'; text: string; label: string }) {
  if (text === '') return null;
  return (
    <Kind className={classes[Kind]}>
      <span className="visually-hidden">{label}</span>
      {text.slice(0, shownCharacters).replace(/\n$/, '')}
    </Kind>
  );
}

/** Plain text in a scrollable box; growing text follows its end until the person scrolls up. */
export function Block({ label, text, isGrowing }: { label: string; text: string; isGrowing: boolean }) {
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (isGrowing && follows.current && element && text !== '') element.scrollTop = element.scrollHeight;
  }, [text, isGrowing]);
  const shown = isGrowing ? text.slice(-shownCharacters) : text.slice(0, shownCharacters);
  return (
    <Labelled label={label}>
      <pre
        ref={box}
        className={classes.block}
        data-growing={isGrowing || undefined}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        dir="auto"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          follows.current = scrollHeight - scrollTop - clientHeight < 24;
        }}
      >
        {shown}
      </pre>
      {isGrowing ? null : <Cut length={text.length} />}
    </Labelled>
  );
}

function Cut({ length }: { length: number }) {
  const t = useText();
  return length > shownCharacters ? (
    <div className={classes.label}>{t('workspace.toolCut', { count: shownCharacters })}</div>
  ) : null;
}

function Labelled({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={classes.part}>
      <div className={classes.label}>{label}</div>
      {children}
    </div>
  );
}

/** Line about the published file, which is shown below. */
function publishedText(output: unknown): string | undefined {
  const path = textOf(output, 'path');
  const size = typeof output === 'object' && output !== null ? Reflect.get(output, 'size') : undefined;
  return path === undefined || typeof size !== 'number' ? undefined : `${path} · ${formatSize(size)}`;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

import type { Token, Tokens } from 'marked';
import { createElement, type ReactNode, useState } from 'react';
import { useText } from '../i18n/i18n.ts';
import { AlertBox } from './alert-box.tsx';
import { CodeBlock } from './code/code-block.tsx';
import { cellNodes, inlineNodes } from './inline.tsx';
import classes from './markdown.module.css';
import type { Alert } from './parser/alerts.ts';
import { decodeEntities } from './parser/entities.ts';
import { runningText } from './parser/running-text.ts';
import { asMarkdownToken } from './parser/tokens.ts';

/** Deeper nesting is shown as source: it is hostile, and each level costs a stack frame. */
const maximumDepth = 24;
/** Rows and cells shown at first, and with each click on "more". */
const rowsAtOnce = 100;
const cellsAtOnce = 1_500;
/** Items of one list, or blocks inside one, that are shown. */
const itemsAtOnce = 500;
/** Characters of one block that are laid out as markdown, and characters of a longer one that are shown at first. */
const maximumBlock = 60_000;
const flowing = new Set(['paragraph', 'text', 'html', 'heading']);

/** `level` is that of a heading at the top of a message; headings inside other blocks get none. */
export function Block({ token, depth, level }: { token: Token; depth: number; level?: number }): ReactNode {
  if (depth > maximumDepth) return <p>{token.raw}</p>;
  if (token.raw.length > maximumBlock && flowing.has(token.type)) return <LongText text={token.raw} />;
  const known = asMarkdownToken(token);
  switch (known.type) {
    case 'space':
    case 'def':
    case 'checkbox':
    case 'footnote':
      return null;
    case 'hr':
      return <hr />;
    case 'heading':
      if (known.text.trim() === '') return null;
      return createElement(level ? `h${level}` : 'p', { 'data-depth': known.depth }, inlineNodes(known.tokens));
    case 'paragraph':
      return <p>{inlineNodes(known.tokens)}</p>;
    case 'text':
      return known.tokens ? inlineNodes(known.tokens) : runningText(known.text);
    case 'code':
      return (
        <CodeBlock
          code={known.text}
          language={decodeEntities(known.lang ?? '').match(/^[\w+#.-]{1,40}/)?.[0] ?? ''}
          isClosed={isClosedFence(known.raw)}
        />
      );
    case 'blockquote':
      return <Quote quote={known} depth={depth + 1} />;
    case 'list':
      return <List list={known} depth={depth + 1} />;
    case 'table':
      return <Table table={known} />;
    case 'html':
      return <p className={classes.source}>{known.text.trim()}</p>;
    case 'math':
      return <p>{inlineNodes(known.tokens ?? [token])}</p>;
    default:
      return <p>{inlineNodes([token])}</p>;
  }
}

function Quote({ quote, depth }: { quote: Alert; depth: number }) {
  const content = blocks(quote.tokens, depth);
  if (!quote.alert) return <blockquote>{content}</blockquote>;
  return <AlertBox kind={quote.alert}>{content}</AlertBox>;
}

/** Blocks inside another one. */
export function blocks(tokens: readonly Token[], depth: number): ReactNode {
  return tokens.map((token, index) => <Block key={index} token={token} depth={depth} />);
}

function List({ list, depth }: { list: Tokens.List; depth: number }) {
  const [shown, setShown] = useState(itemsAtOnce);
  const items = list.items.slice(0, shown).map((item, index) => <Item key={index} item={item} depth={depth} />);
  return (
    <>
      {list.ordered ? <ol start={list.start === 1 ? undefined : Number(list.start)}>{items}</ol> : <ul>{items}</ul>}
      <MoreBlocks tokens={list.items.slice(shown)} onMore={() => setShown(shown * 2)} />
    </>
  );
}

/** Button that shows the blocks beyond the first ones. */
export function MoreBlocks({ tokens, onMore }: { tokens: readonly Token[]; onMore: () => void }) {
  const t = useText();
  if (tokens.length === 0) return null;
  const count = tokens.reduce((sum, token) => sum + token.raw.length, 0);
  return (
    <button type="button" className={classes.more} onClick={onMore}>
      {t('markdown.showRest', { count })}
    </button>
  );
}

function Item({ item, depth }: { item: Tokens.ListItem; depth: number }) {
  const t = useText();
  if (!item.task) return <li>{blocks(item.tokens, depth)}</li>;
  return (
    <li className={classes.task} data-done={item.checked || undefined}>
      <span
        role="img"
        aria-label={t(item.checked ? 'markdown.taskDone' : 'markdown.taskOpen')}
        className={classes.box}
      />
      {blocks(item.tokens, depth)}
    </li>
  );
}

function Table({ table }: { table: Tokens.Table }) {
  const t = useText();
  const step = Math.max(5, Math.min(rowsAtOnce, Math.floor(cellsAtOnce / table.header.length)));
  const [shown, setShown] = useState(step);
  const rows = table.rows.slice(0, shown);
  const next = Math.min(step, table.rows.length - rows.length);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <div className={classes.tableBox} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} align={cell.align ?? undefined}>
                {cellNodes(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, rowIndex) => (
            <tr key={rowIndex}>
              {row.map((cell, index) => (
                <td key={index} align={cell.align ?? undefined}>
                  {cellNodes(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {next > 0 ? (
        <button type="button" className={classes.more} onClick={() => setShown(shown + step)}>
          {t('markdown.showRows', { next, count: table.rows.length })}
        </button>
      ) : null}
    </div>
  );
}

/** An endless block is shown as text, not markdown, and at first only its beginning. */
function LongText({ text }: { text: string }) {
  const t = useText();
  const [shown, setShown] = useState(maximumBlock);
  return (
    <div className={classes.long}>
      {text.slice(0, shown)}
      {text.length > shown ? (
        <button type="button" className={classes.more} onClick={() => setShown(shown * 4)}>
          {t('markdown.showRest', { count: text.length - shown })}
        </button>
      ) : null}
    </div>
  );
}

/** Whether the fence of a code block was closed; indented code has none, it just ends. */
function isClosedFence(raw: string): boolean {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1];
  if (fence === undefined) return true;
  const last = raw.trimEnd().split('\n').at(-1)?.trim() ?? '';
  return raw.includes('\n') && last.length >= fence.length && last === fence[0]?.repeat(last.length);
}

import type { Token, Tokens } from 'marked';
import { createElement, type ReactNode } from 'react';
import { useText } from '../i18n.ts';
import { CodeBlock } from './code-block.tsx';
import { decodeEntities } from './entities.ts';
import { asMarked, inlineNodes } from './inline.tsx';
import classes from './markdown.module.css';

/** Nesting beyond this is shown as its source: it is hostile, and each level costs a stack frame. */
const maximumDepth = 24;

/** `level` is the level of a heading that stands at the top of a message; inside of other blocks none is given one. */
export function Block({ token, depth, level }: { token: Token; depth: number; level?: number }): ReactNode {
  if (depth > maximumDepth) return <p>{token.raw}</p>;
  const known = asMarked(token);
  switch (known.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return null;
    case 'hr':
      return <hr />;
    case 'heading':
      if (known.text.trim() === '') return null;
      return createElement(level ? `h${level}` : 'p', { 'data-depth': known.depth }, inlineNodes(known.tokens));
    case 'paragraph':
      return <p>{inlineNodes(known.tokens)}</p>;
    case 'text':
      return known.tokens ? inlineNodes(known.tokens) : decodeEntities(known.text);
    case 'code':
      return <CodeBlock code={known.text} language={known.lang?.match(/^[\w+#.-]{1,40}/)?.[0] ?? ''} />;
    case 'blockquote':
      return <blockquote>{blocks(known.tokens, depth + 1)}</blockquote>;
    case 'list':
      return <List list={known} depth={depth + 1} />;
    case 'table':
      return <Table table={known} />;
    case 'html':
      return <p className={classes.source}>{known.text.trim()}</p>;
    default:
      return <p>{inlineNodes([token])}</p>;
  }
}

function blocks(tokens: readonly Token[], depth: number): ReactNode {
  return tokens.map((token, index) => <Block key={index} token={token} depth={depth} />);
}

function List({ list, depth }: { list: Tokens.List; depth: number }) {
  const items = list.items.map((item, index) => <Item key={index} item={item} depth={depth} />);
  return list.ordered ? <ol start={Number(list.start) || undefined}>{items}</ol> : <ul>{items}</ul>;
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
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <div className={classes.tableBox} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} align={cell.align ?? undefined}>
                {inlineNodes(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, rowIndex) => (
            <tr key={rowIndex}>
              {row.map((cell, index) => (
                <td key={index} align={cell.align ?? undefined}>
                  {inlineNodes(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

import type { Token } from 'marked';
import { memo, useMemo, useRef } from 'react';
import { Block } from './block.tsx';
import { GrowingBlocks } from './blocks.ts';
import { headingLevels } from './heading-levels.ts';
import classes from './markdown.module.css';

/** A markdown text as React elements; no HTML is ever interpreted. `isGrowing` while it still streams in. */
export function Markdown({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  const blocks = useRef<GrowingBlocks>(null);
  blocks.current ??= new GrowingBlocks();
  const growing = blocks.current;
  const { tokens } = useMemo(() => growing.update(text, !isGrowing), [growing, text, isGrowing]);
  const levels = useMemo(() => headingLevels(tokens), [tokens]);
  return (
    <div className={classes.markdown} dir="auto">
      {tokens.map((token, index) => (
        <MemoBlock key={index} token={token} level={levels[index]} />
      ))}
    </div>
  );
}

/** The open blocks at the end are parsed again and again; the same source gives the same picture. */
const MemoBlock = memo(
  function MemoBlock({ token, level }: { token: Token; level: number | undefined }) {
    return <Block token={token} depth={0} level={level} />;
  },
  (before, after) =>
    before.level === after.level &&
    (before.token === after.token || (before.token.raw === after.token.raw && !hasReference(after.token))),
);

/** A reference may resolve differently once its definition has come. */
function hasReference(token: Token): boolean {
  return token.raw.includes('[');
}

import type { Token } from 'marked';
import { memo, useMemo, useRef, useState } from 'react';
import { Block, MoreBlocks, blocks as nestedBlocks } from './block.tsx';
import { WithFootnotes } from './footnotes-view.tsx';
import classes from './markdown.module.css';
import { StreamingBlocks } from './parser/blocks.ts';
import { headingLevels } from './parser/heading-levels.ts';
import { isSameBlock, type Placed } from './parser/same-block.ts';
import { presentable } from './presentable.ts';
import { StreamingContext } from './streaming-context.ts';

/** Groups shown at first: no readable answer has a thousand blocks. */
const groupsAtOnce = 50;
/** Blocks that React compares as one: an answer with a thousand blocks costs fifty comparisons per frame. */
const groupSize = 20;

type Props = {
  text: string;
  isGrowing: boolean;
  /** Not part of the answer's own text, so that it is neither copied nor quoted with it. */
  isAside?: boolean;
};

/**
 * A markdown text as React elements; HTML is never interpreted. `isGrowing` while it is streaming. A browser that
 * translates the page takes the text nodes away under React, so it gets a growing text only at its end, in new nodes.
 */
export function Markdown(props: Props) {
  return <MarkdownBlocks key={props.isGrowing || !isPageTranslated() ? 'own' : 'translated'} {...props} />;
}

function isPageTranslated(): boolean {
  return document.querySelector('html:is(.translated-ltr, .translated-rtl), font, [_msttexthash]') !== null;
}

function MarkdownBlocks({ text, isGrowing, isAside }: Props) {
  const blocks = useRef<StreamingBlocks>(null);
  blocks.current ??= new StreamingBlocks();
  const growing = blocks.current;
  const tokens = useMemo(() => presentable(growing.update(text, !isGrowing), isGrowing), [growing, text, isGrowing]);
  const groups = useMemo(() => toGroups(tokens), [tokens]);
  const [shown, setShown] = useState(groupsAtOnce);
  return (
    <div
      className={classes.markdown}
      data-part={isAside ? 'aside' : 'text'}
      dir="auto"
      translate={isGrowing ? 'no' : undefined}
    >
      <StreamingContext value={isGrowing}>
        <WithFootnotes tokens={tokens} content={(note) => nestedBlocks(note.tokens, 1)}>
          {groups.slice(0, shown).map((group, index) => (
            <BlockGroup key={index} blocks={group} />
          ))}
          <MoreBlocks
            tokens={groups.slice(shown).flatMap((group) => group.map(({ token }) => token))}
            onMore={() => setShown(shown * 2)}
          />
        </WithFootnotes>
      </StreamingContext>
    </div>
  );
}

function toGroups(tokens: readonly Token[]): Placed[][] {
  const levels = headingLevels(tokens);
  const placed = tokens.map((token, index) => ({ token, level: levels[index] }));
  return Array.from({ length: Math.ceil(placed.length / groupSize) }, (_, index) =>
    placed.slice(index * groupSize, (index + 1) * groupSize),
  );
}

const BlockGroup = memo(
  function BlockGroup({ blocks }: { blocks: readonly Placed[] }) {
    return blocks.map(({ token, level }, index) => <MemoBlock key={index} token={token} level={level} />);
  },
  (before, after) =>
    before.blocks.length === after.blocks.length &&
    after.blocks.every((block, index) => isSameBlock(before.blocks[index], block)),
);

const MemoBlock = memo(
  function MemoBlock({ token, level }: Placed) {
    return <Block token={token} depth={0} level={level} />;
  },
  (before, after) => isSameBlock(before, after),
);

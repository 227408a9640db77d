import 'virtual:texts/rendered';
import { use, useEffect } from 'react';
import { ThreadActionsContext } from '../../conversation/thread-actions.ts';
import { DiagramView } from '../../diagram/diagram-view.tsx';
import { useText } from '../../i18n/i18n.ts';
import type { BlockPreviewProps } from '../../markdown/code/block-previews.ts';
import type { PreviewKind } from '../../markdown/code/preview-kind.ts';
import { Markdown } from '../../markdown/markdown.tsx';
import { RenderedSource } from '../../rendered/rendered-source.tsx';
import classes from './block-preview.module.css';
import { TableView } from './table-view.tsx';

/** Characters of a document or table that are laid out, as of files. */
const shownCharacters = 256 * 1024;

/** The preview of a code block: pages and components run in the frame that files have. */
export function BlockPreview({ kind, code, language, onShown }: BlockPreviewProps) {
  const isDiagram = kind === 'diagram';
  useEffect(() => {
    if (!isDiagram) onShown();
  }, [isDiagram, onShown]);
  if (isDiagram) return <DiagramView code={code} onDrawn={onShown} />;
  return (
    <div className={classes.preview} dir="auto" data-preview>
      <Content kind={kind} code={code} language={language} />
    </div>
  );
}

type ContentProps = Omit<BlockPreviewProps, 'onShown' | 'kind'> & { kind: Exclude<PreviewKind, 'diagram'> };

function Content({ kind, code, language }: ContentProps) {
  const t = useText();
  const ask = use(ThreadActionsContext)?.ask;
  const name = language === '' ? kind : language;
  if (kind === 'markdown') return <Markdown text={code.slice(0, shownCharacters)} isGrowing={false} isAside />;
  if (kind === 'table') return <TableView text={code.slice(0, shownCharacters)} name={name} />;
  const fix = (faults: readonly string[]) =>
    ask?.(`${t('rendered.fixBlock', { name })}\n\n\`\`\`\n${faults.join('\n')}\n\`\`\``);
  return (
    <RenderedSource
      kind={kind}
      source={code}
      isTypeScript={!/^(?:jsx|javascriptreact)$/i.test(language)}
      name={name}
      onFix={ask && fix}
    />
  );
}

import { useText } from '../i18n/i18n.ts';
import classes from './shown-text.module.css';
import { nameCodes, visiblePieces } from './visible-text.ts';

/** Untrusted text in which nothing stays invisible. */
export function ShownText({ text }: { text: string }) {
  const t = useText();
  return visiblePieces(text).map((piece, index) => {
    if (piece.kind === 'text') return piece.text;
    if (piece.kind === 'gap') {
      return (
        <mark key={index} className={classes.gap}>
          {t(piece.what === 'lines' ? 'mcp.gapLines' : 'mcp.gapSpaces', { count: piece.count })}
        </mark>
      );
    }
    const { named, more } = nameCodes(piece.codes);
    return (
      <mark key={index} className={classes.hidden} title={t('mcp.hiddenHint')}>
        <span className="visually-hidden">{t('mcp.hidden')} </span>
        {[named, more > 0 ? `+${more}` : '', piece.spells === '' ? '' : `“${piece.spells}”`].filter(Boolean).join(' ')}
      </mark>
    );
  });
}

import { Check, Copy } from 'lucide-react';
import { useCopy } from '../clipboard.ts';
import { useText } from '../i18n.ts';
import classes from './markdown.module.css';

/** Preformatted text with its language and a copy button. */
export function CodeBlock({ code, language }: { code: string; language: string }) {
  const t = useText();
  const { isCopied, copy } = useCopy();
  return (
    <figure className={classes.code} dir="ltr">
      <figcaption className={classes.codeHead}>
        <span>{language}</span>
        <button
          type="button"
          className={classes.copy}
          onClick={() => copy(code)}
          aria-label={t(isCopied ? 'markdown.codeCopied' : 'markdown.copyCode')}
        >
          {isCopied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
          <span>{t(isCopied ? 'app.copied' : 'app.copy')}</span>
        </button>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </figure>
  );
}

import katex from 'katex';
import 'katex/dist/katex.min.css';

/**
 * Typesets a formula in `host`; false if it is not one. KaTeX builds elements and parses no HTML. With `trust` off,
 * formulas have no links, classes, images or styles; sizes and macro expansion are bounded.
 */
export function typeset(formula: string, host: HTMLElement, isDisplay: boolean): boolean {
  try {
    katex.render(formula, host, {
      displayMode: isDisplay,
      throwOnError: true,
      trust: false,
      strict: 'ignore',
      maxExpand: 200,
      maxSize: 20,
      output: 'htmlAndMathml',
    });
    return true;
  } catch {
    host.replaceChildren();
    return false;
  }
}

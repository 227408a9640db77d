import katex from 'katex';
import 'katex/dist/katex.min.css';

/**
 * Sets a formula into `host`; false when it is not one. KaTeX builds elements, no HTML is parsed. With `trust` off there are
 * no links, classes, images or foreign styles in a formula; sizes and macro expansion are bounded.
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

import { copyText } from '../../clipboard.ts';

/** Elements that belong to the page and not to the text. */
const controls = 'button, figcaption, svg, .visually-hidden, .katex-html, [hidden], [data-preview]';

/**
 * Copies an answer as markdown, and for programs that take formatted text as it looks. Its HTML is read from the page,
 * where only safe elements are; attributes other than addresses are left out.
 */
export async function copyRich(markdown: string, parts: Iterable<Element>): Promise<boolean> {
  try {
    const html = [...parts].map(plainHtml).join('\n');
    if (html === '' || typeof ClipboardItem === 'undefined') return await copyText(markdown);
    const item = new ClipboardItem({
      'text/plain': new Blob([markdown], { type: 'text/plain' }),
      'text/html': new Blob([html], { type: 'text/html' }),
    });
    await navigator.clipboard.write([item]);
    return true;
  } catch {
    return await copyText(markdown);
  }
}

function plainHtml(part: Element): string {
  const copy = document.importNode(part, true);
  // The code of a block is copied, not its preview.
  for (const source of copy.querySelectorAll('[data-source]')) source.removeAttribute('hidden');
  for (const control of copy.querySelectorAll(controls)) control.remove();
  for (const element of copy.querySelectorAll('*'))
    for (const { name } of [...element.attributes])
      if (!['href', 'start', 'align', 'dir'].includes(name)) element.removeAttribute(name);
  return copy.innerHTML;
}

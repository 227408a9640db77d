import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { DocumentRefused } from '../documents/document.ts';
import { Enough, PageWriter } from '../documents/page-writer.ts';
import { decodeAnyText, decodeHtml } from '../documents/readers/encodings/text-encoding.ts';
import { writeHtml } from '../documents/readers/html.ts';
import { type Task, TaskRefused } from '../sandbox/serve.ts';
import type { PageInput, ReadPage } from './page-reader.ts';
import { findWebAddress } from './web-address.ts';

/** A larger or deeper page is read as a whole: taking it apart would cost more than the time of one page. */
const elementsMax = 20_000;
const nestingMax = 500;
/** Less text than this is not the article: the whole page is read instead. */
const articleLeast = 200;
const titleMax = 300;

/** Reads one page of the web in a child process: its main text as Markdown with links. Nothing is fetched or run. */
export const pageTask: Task = async (input) => {
  const { bytes, charset, url, isHtml, maxTextBytes } = input as PageInput;
  const writer = new PageWriter({ maxPages: 2_000, maxTextBytes }, 'part');
  try {
    const text = decode(bytes, charset, isHtml);
    const head = isHtml ? readArticle(text, url, writer) : { title: '' };
    if (!isHtml) within(() => writer.paragraph(text));
    const { pages, warnings } = writer.finish();
    const page: ReadPage = {
      ...head,
      text: pages.map((each) => each.text).join('\n\n'),
      isCut: warnings.length > 0,
    };
    return { opened: page };
  } catch (error) {
    if (!(error instanceof DocumentRefused)) throw error;
    throw new TaskRefused({ message: error.message });
  }
};

/** Decodes by the server's header if the bytes agree with it, else by the page's own declaration or by its bytes. */
function decode(bytes: Uint8Array, charset: string | undefined, isHtml: boolean): string {
  const decoder = charset === undefined ? undefined : findDecoder(charset);
  try {
    if (decoder !== undefined) return decoder.decode(bytes);
  } catch {
    // Falls through to what the bytes look like.
  }
  return isHtml ? decodeHtml(bytes) : decodeAnyText(bytes);
}

function findDecoder(charset: string) {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    return undefined;
  }
}

function readArticle(source: string, url: string, writer: PageWriter): Omit<ReadPage, 'text' | 'isCut'> {
  const { elements, nesting } = measure(source);
  const isApart = elements <= elementsMax && nesting <= nestingMax;
  const article = isApart ? findArticle(source, url) : undefined;
  if (article === undefined) {
    within(() => writeHtml(source, writer));
    return { title: '' };
  }
  within(() => writeHtml(article.html, writer, false));
  const { title, author, publishedAt } = article;
  return { title, ...(author === '' ? {} : { author }), ...(publishedAt === '' ? {} : { publishedAt }) };
}

type Article = { title: string; author: string; publishedAt: string; html: string };

/** The main part of a page; undefined if there is none, or if it is not a page that can be taken apart. */
function findArticle(source: string, url: string): Article | undefined {
  try {
    const { document } = parseHTML(
      /<html[\s>]/i.test(source) ? source : `<!doctype html><html><body>${source}</body></html>`,
    );
    const title = plain(document.querySelector('title')?.textContent);
    if (document.body === null) return undefined;
    const whole = document.body.innerHTML;
    const parsed = new Readability(document as unknown as ConstructorParameters<typeof Readability>[0], {
      maxElemsToParse: elementsMax,
    }).parse();
    const isArticle = (parsed?.textContent ?? '').trim().length >= articleLeast;
    const html = isArticle ? (parsed?.content ?? '') : whole;
    return {
      title: plain(parsed?.title) || title,
      author: plain(parsed?.byline),
      publishedAt: plain(parsed?.publishedTime),
      html: withLinks(html, url),
    };
  } catch {
    return undefined;
  }
}

/** Writes the addresses of links into their texts, as Markdown does. */
function withLinks(html: string, url: string): string {
  const base = URL.parse(url) ?? undefined;
  const { document } = parseHTML(`<!doctype html><html><body>${html}</body></html>`);
  for (const link of document.querySelectorAll('a[href]')) {
    const text = (link.textContent ?? '').replace(/\s+/g, ' ').trim();
    const address = findWebAddress(link.getAttribute('href') ?? '', base);
    if (text === '' || address === undefined || address.href === base?.href) continue;
    link.textContent = `[${text}](${address.href})`;
  }
  return document.body.innerHTML;
}

function within(write: () => void): void {
  try {
    write();
  } catch (error) {
    // The text up to the limit is kept.
    if (!(error instanceof Enough)) throw error;
  }
}

/** Upper bounds of how many elements there are and how deep: parsers take ever longer, or all of the stack, far down. */
function measure(source: string): { elements: number; nesting: number } {
  let elements = 0;
  let depth = 0;
  let deepest = 0;
  for (let at = source.indexOf('<'); at !== -1; at = source.indexOf('<', at + 1)) {
    const next = source.charCodeAt(at + 1);
    if (isLetter(next)) elements += 1;
    if (next === 0x2f) depth = Math.max(0, depth - 1);
    else if (isLetter(next) && !isVoid(source, at + 1)) depth += 1;
    if (depth > deepest) deepest = depth;
  }
  return { elements, nesting: deepest };
}

const voids = /^(?:area|base|br|col|embed|hr|img|input|link|meta|p|li|source|track|wbr|option|t[dhr]|d[dt])\b/i;

function isVoid(source: string, at: number): boolean {
  return voids.test(source.slice(at, at + 8));
}

function isLetter(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

function plain(value: string | null | undefined): string {
  return (value ?? '').replace(/\s+/g, ' ').trim().slice(0, titleMax).toWellFormed();
}

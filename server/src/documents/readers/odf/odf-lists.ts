import { ListCounter, type ListLevel } from '../list-numbers.ts';
import { countOf, readXml, type XmlAttributes } from '../xml.ts';

/** Numbers of lists and headings in OpenDocument texts (OpenDocument 1.3, part 3, sections 5.3 and 16.30). */

type Levels = ListLevel[];
type OpenList = { style: string | undefined; counter: ListCounter };
type OpenItem = { start: number | undefined; isLabeled: boolean };

const most = 20_000;
const deepest = 9;
const outline = 'Outline';
const formats: Record<string, string> = { a: 'lowerLetter', A: 'upperLetter', i: 'lowerRoman', I: 'upperRoman' };

export class OdfLists {
  readonly #styles = new Map<string, Levels>();
  /** List styles of paragraph styles, which have them where a list has none. */
  readonly #paragraphs = new Map<string, { list?: string; parent?: string }>();
  readonly #byId = new Map<string, ListCounter>();
  readonly #byStyle = new Map<string, ListCounter>();
  readonly #headings = new ListCounter();
  readonly #lists: OpenList[] = [];
  readonly #items: OpenItem[] = [];

  constructor(...parts: (Buffer | undefined)[]) {
    for (const part of parts) if (part !== undefined) this.#readStyles(part);
  }

  openList(attributes: XmlAttributes): void {
    const around = this.#lists.at(-1);
    const style = attributes['text:style-name'] ?? around?.style;
    const counter = around?.counter ?? this.#counterOf(style, attributes);
    this.#lists.push({ style, counter });
    if (around !== undefined) return;
    const id = attributes['xml:id'] ?? attributes['text:id'];
    if (id !== undefined && this.#byId.size < most) this.#byId.set(id, counter);
    if (style !== undefined && this.#byStyle.size < most) this.#byStyle.set(style, counter);
  }

  #counterOf(style: string | undefined, attributes: XmlAttributes): ListCounter {
    const continued = this.#byId.get(attributes['text:continue-list'] ?? '');
    const again = attributes['text:continue-numbering'] === 'true' ? this.#byStyle.get(style ?? '') : undefined;
    return continued ?? again ?? new ListCounter();
  }

  closeList(): void {
    this.#lists.pop();
  }

  /** `isHeader`: an item without a number. */
  openItem(attributes: XmlAttributes, isHeader: boolean): void {
    this.#items.push({ start: startOf(attributes), isLabeled: isHeader });
  }

  closeItem(): void {
    this.#items.pop();
  }

  /** The number or bullet of a paragraph or, at that level of the outline, of a heading, with a space after it. */
  labelOf(attributes: XmlAttributes, heading?: number): string {
    const [list, item] = [this.#lists.at(-1), this.#items.at(-1)];
    if (list === undefined || item === undefined) return this.#headingLabel(attributes, heading);
    if (item.isLabeled) return '';
    item.isLabeled = true;
    const style = list.style ?? this.#listOf(attributes['text:style-name']);
    const levels = this.#styles.get(style ?? '') ?? [];
    return spaced(list.counter.next(levels, this.#lists.length - 1, item.start));
  }

  #headingLabel(attributes: XmlAttributes, heading: number | undefined): string {
    const levels = this.#styles.get(outline);
    if (heading === undefined || levels === undefined || attributes['text:is-list-header'] === 'true') return '';
    return spaced(this.#headings.next(levels, heading - 1, startOf(attributes)));
  }

  #listOf(paragraph: string | undefined): string | undefined {
    let name = paragraph;
    for (let steps = 0; name !== undefined && steps < 30; steps += 1) {
      const found = this.#paragraphs.get(name);
      if (found?.list !== undefined) return found.list;
      name = found?.parent;
    }
    return undefined;
  }

  #readStyles(part: Buffer): void {
    let levels: Levels | undefined;
    readXml(part, {
      open: (name, attributes) => {
        const style = attributes['style:name'];
        if (name === 'style' && style !== undefined && this.#paragraphs.size < most) {
          const list = attributes['style:list-style-name'];
          const parent = attributes['style:parent-style-name'];
          this.#paragraphs.set(style, { ...(list && { list }), ...(parent !== undefined && { parent }) });
        } else if ((name === 'list-style' || name === 'outline-style') && this.#styles.size < most) {
          levels = [];
          this.#styles.set(name === 'outline-style' ? outline : (style ?? ''), levels);
        } else if (levels !== undefined && /^(?:list-level-style|outline-level-style)/.test(name)) {
          const at = countOf(attributes['text:level']) - 1;
          if (at < deepest) levels[at] = levelOf(name, at, attributes, levels);
        }
      },
      close(name) {
        if (name === 'list-style' || name === 'outline-style') levels = undefined;
      },
    });
  }
}

function levelOf(name: string, at: number, attributes: XmlAttributes, levels: Levels): ListLevel {
  const start = startOf(attributes) ?? 1;
  if (name === 'list-level-style-bullet' || name === 'list-level-style-image') {
    return { format: 'bullet', text: '', start };
  }
  const sign = attributes['style:num-format'] ?? '';
  if (sign === '') return { format: 'none', text: '', start };
  const format = formats[sign] ?? 'decimal';
  // LibreOffice writes the whole shape of a number beside the older members.
  const shape = attributes['loext:num-list-format']?.slice(0, 200).replace(/%([1-9])%/g, '%$1');
  if (shape !== undefined) return { format, text: shape, start };
  const shown = Math.min(countOf(attributes['text:display-levels']), at + 1);
  const places = Array.from({ length: shown }, (_, index) => at - shown + 1 + index)
    .filter((place) => place === at || (levels[place]?.format ?? 'none') !== 'none')
    .map((place) => `%${place + 1}`);
  const [prefix = '', suffix = ''] = [attributes['style:num-prefix'], attributes['style:num-suffix']];
  return { format, text: `${prefix.slice(0, 100)}${places.join('.')}${suffix.slice(0, 100)}`, start };
}

function startOf(attributes: XmlAttributes): number | undefined {
  const start = Number(attributes['text:start-value'] ?? Number.NaN);
  return Number.isInteger(start) && start >= 0 ? start : undefined;
}

function spaced(label: string): string {
  return label.trim() === '' ? '' : `${label.trim()} `;
}

import { ListCounter, type ListLevel } from '../list-numbers.ts';
import { attributeOf, readXml } from '../xml.ts';

/** Lists and heading levels of a Word file: which number a paragraph has, by itself or through its style. */

type Style = { name: string; basedOn?: string; numId?: string; level?: number; outline?: number };
type Level = ListLevel & { style?: string };
type Abstract = { levels: Level[]; styleLink?: string };
type Num = { abstract: string; starts: Map<number, number>; levels: Map<number, Level> };

/** More than Word writes, and enough for any real file. */
const most = 20_000;
const longestChain = 30;
export type ListProperties = { numId?: string; level?: number };

export class WordLists {
  readonly #styles: Map<string, Style>;
  readonly #abstracts = new Map<string, Abstract>();
  readonly #nums = new Map<string, Num>();
  readonly #counters = new Map<string, ListCounter>();
  readonly #begun = new Set<string>();

  constructor(styles: Buffer | undefined, numbering: Buffer | undefined) {
    this.#styles = readStyles(styles ?? Buffer.alloc(0));
    readNumbering(numbering ?? Buffer.alloc(0), this.#abstracts, this.#nums);
  }

  /** The mark of a heading and the number or bullet of a paragraph, with a space after each. */
  labelOf(style: string | undefined, own: ListProperties): string {
    const number = this.#numberOf(style, own);
    return `${this.#headingMark(style)}${number === '' ? '' : `${number} `}`;
  }

  #headingMark(style: string | undefined): string {
    for (const { name, outline } of this.#chain(style)) {
      const byName = /^(?:heading|berschrift|Überschrift)\s?([1-9])$/i.exec(name)?.[1];
      const level = byName === undefined ? outline : Number(byName) - 1;
      if (level !== undefined && level < 9) return `${'#'.repeat(Math.min(6, level + 1))} `;
    }
    const byId = /^(?:heading|berschrift|Überschrift)\s?([1-6])$/i.exec(style ?? '')?.[1];
    return byId === undefined ? '' : `${'#'.repeat(Number(byId))} `;
  }

  #numberOf(style: string | undefined, own: ListProperties): string {
    const styled = this.#chain(style).find(({ numId }) => numId !== undefined);
    const numId = own.numId ?? styled?.numId;
    const num = numId === undefined ? undefined : this.#nums.get(numId);
    if (num === undefined || numId === undefined) return '';
    const abstract = this.#abstractOf(num);
    if (abstract === undefined) return '';
    const levels = abstract.levels.map((level, at) => num.levels.get(at) ?? level);
    const linked = own.numId === undefined ? levels.findIndex((level) => level?.style === style) : -1;
    const level = own.level ?? (linked >= 0 ? linked : (styled?.level ?? 0));
    const counter = this.#counters.get(num.abstract) ?? new ListCounter();
    this.#counters.set(num.abstract, counter);
    const key = `${numId} ${level}`;
    const start = this.#begun.has(key) ? undefined : num.starts.get(level);
    this.#begun.add(key);
    return counter.next(levels, level, start);
  }

  /** A list may only name the style that has its levels. */
  #abstractOf(num: Num): Abstract | undefined {
    const abstract = this.#abstracts.get(num.abstract);
    if (abstract?.styleLink === undefined || abstract.levels.length > 0) return abstract;
    const other = this.#nums.get(this.#styles.get(abstract.styleLink)?.numId ?? '');
    return other === undefined ? abstract : this.#abstracts.get(other.abstract);
  }

  #chain(style: string | undefined): Style[] {
    const chain: Style[] = [];
    for (let id = style; id !== undefined && chain.length < longestChain; ) {
      const found = this.#styles.get(id);
      if (found === undefined) break;
      chain.push(found);
      id = found.basedOn;
    }
    return chain;
  }
}

function readStyles(bytes: Buffer): Map<string, Style> {
  const styles = new Map<string, Style>();
  let style: Style | undefined;
  readXml(bytes, {
    open(name, attributes) {
      const value = attributeOf(attributes, 'val');
      if (name === 'style' && styles.size < most) {
        style = { name: '' };
        styles.set(attributeOf(attributes, 'styleId') ?? '', style);
      } else if (style === undefined || value === undefined) return;
      else if (name === 'name') style.name = value;
      else if (name === 'basedOn') style.basedOn = value;
      else if (name === 'numId') style.numId = value;
      else if (name === 'ilvl') style.level = Number(value);
      else if (name === 'outlineLvl') style.outline = Number(value);
    },
    close(name) {
      if (name === 'style') style = undefined;
    },
  });
  return styles;
}

function readNumbering(bytes: Buffer, abstracts: Map<string, Abstract>, nums: Map<string, Num>): void {
  let abstract: Abstract | undefined;
  let num: Num | undefined;
  let level: Level | undefined;
  let at = 0;
  readXml(bytes, {
    open(name, attributes) {
      const value = attributeOf(attributes, 'val') ?? '';
      if (name === 'abstractNum' && abstracts.size < most) {
        abstract = { levels: [] };
        abstracts.set(attributeOf(attributes, 'abstractNumId') ?? '', abstract);
      } else if (name === 'num' && nums.size < most) {
        num = { abstract: '', starts: new Map(), levels: new Map() };
        nums.set(attributeOf(attributes, 'numId') ?? '', num);
      } else if (name === 'abstractNumId' && num !== undefined) num.abstract = value;
      else if (name === 'lvlOverride') at = Number(attributeOf(attributes, 'ilvl') ?? 0);
      else if (name === 'startOverride') num?.starts.set(at, Number(value));
      else if (name === 'numStyleLink' && abstract !== undefined) abstract.styleLink = value;
      else if (name === 'lvl') {
        at = Number(attributeOf(attributes, 'ilvl') ?? 0);
        level = { format: 'decimal', text: '', start: 0 };
        if (num !== undefined) num.levels.set(at, level);
        else if (abstract !== undefined && at >= 0 && at < 9) abstract.levels[at] = level;
      } else if (level !== undefined) setLevel(level, name, value);
    },
    close(name) {
      if (name === 'abstractNum') abstract = undefined;
      else if (name === 'num') num = undefined;
      else if (name === 'lvl') level = undefined;
    },
  });
}

function setLevel(level: Level, name: string, value: string): void {
  if (name === 'start') level.start = Number(value) || 0;
  else if (name === 'numFmt') level.format = value;
  else if (name === 'lvlText') level.text = value.slice(0, 200);
  else if (name === 'pStyle') level.style = value;
  else if (name === 'isLgl') level.isLegal = value !== '0' && value !== 'false';
}

import { toLatex } from '../latex.ts';
import { attributeOf, readXml, type XmlAttributes } from '../xml.ts';
import { TreeBuilder } from '../xml-tree.ts';
import { describeChanges, longestChange, type TrackedChange } from './tracked-changes.ts';
import type { ListProperties, WordLists } from './word-lists.ts';

/** The paragraphs and tables of one part of a Word file. */

export type BodyContext = { lists: WordLists; comments: ReadonlyMap<string, string> };

/** Elements whose content is not part of the text: codes of fields, second versions of drawings, readings, old places. */
const left = new Set(['instrText', 'delInstrText', 'Fallback', 'moveFrom', 'rt', 'pPrChange', 'rPrChange']);
const tracked: Record<string, string> = { ins: 'inserted', del: 'deleted' };

export function readBody(bytes: Buffer, write: (line: string) => void, context: BodyContext, turn?: () => void): void {
  const body = new Body(write, context, turn);
  readXml(bytes, body);
  body.end();
}

class Body {
  readonly #write: (line: string) => void;
  readonly #context: BodyContext;
  readonly #turn: (() => void) | undefined;
  #line = '';
  #leftOut = 0;
  #inText = false;
  #cells = 0;
  #style: string | undefined;
  #list: ListProperties = {};
  /** The label of the paragraph waits for its properties to end. */
  #isLabeled = true;
  #inProperties = 0;
  #changes: TrackedChange[] = [];
  #open: TrackedChange[] = [];
  #math: TreeBuilder | undefined;
  #isDisplayed = false;

  constructor(write: (line: string) => void, context: BodyContext, turn: (() => void) | undefined) {
    this.#write = write;
    this.#context = context;
    this.#turn = turn;
  }

  open(name: string, attributes: XmlAttributes): void {
    if (this.#math !== undefined) {
      this.#math.open(name, attributes);
      return;
    }
    if (left.has(name)) this.#leftOut += 1;
    if (this.#leftOut > 0) return;
    if (name === 'pPr') this.#inProperties += 1;
    else if (this.#inProperties > 0) this.#readProperty(name, attributes);
    else if (name in tracked) this.#beginChange(name, attributes);
    else if (name === 'p') {
      // Of the paragraph around a text box.
      this.#label();
      this.#beginParagraph();
    } else this.#readContent(name, attributes);
  }

  close(name: string): void {
    if (this.#math !== undefined) {
      if (this.#math.close()) this.#endMath(this.#math);
      return;
    }
    if (left.has(name)) this.#leftOut -= 1;
    else if (this.#leftOut > 0) return;
    if (name === 'pPr') this.#inProperties -= 1;
    else if (this.#inProperties > 0) return;
    else if (name in tracked) this.#open.pop();
    else if (name === 't' || name === 'delText') this.#inText = false;
    else if (name === 'oMathPara') this.#isDisplayed = false;
    else if (name === 'p') this.#endParagraph();
    else if (name === 'tc') {
      this.#cells -= 1;
      this.#line = `${this.#line.trimEnd()}\t`;
    } else if (name === 'tr' && this.#cells === 0) {
      this.#line = this.#line.trimEnd();
      this.#flush();
    }
  }

  text(text: string): void {
    if (this.#math !== undefined) this.#math.text(text);
    else if (this.#inText && this.#leftOut === 0) this.#add(text);
  }

  end(): void {
    if (this.#line !== '') this.#flush();
  }

  #readProperty(name: string, attributes: XmlAttributes): void {
    const value = attributeOf(attributes, 'val');
    if (name === 'pStyle') this.#style = value;
    else if (name === 'numId' && value !== undefined) this.#list.numId = value;
    else if (name === 'ilvl' && value !== undefined) this.#list.level = Number(value);
  }

  #readContent(name: string, attributes: XmlAttributes): void {
    if (name === 't' || name === 'delText') this.#inText = true;
    else if (name === 'oMathPara') this.#isDisplayed = true;
    else if (name === 'oMath') this.#math = new TreeBuilder(name, attributes);
    else if (name === 'tab' || name === 'ptab') this.#add('\t');
    else if (name === 'noBreakHyphen') this.#add('-');
    else if (name === 'sym') this.#add(symbolOf(attributes));
    else if (name === 'br' || name === 'cr') {
      if (attributeOf(attributes, 'type') !== 'page') this.#add('\n');
      else this.#turnPage();
    } else if (name === 'lastRenderedPageBreak') this.#turnPage();
    else if (name === 'commentReference') {
      const comment = this.#context.comments.get(attributeOf(attributes, 'id') ?? '');
      if (comment !== undefined) this.#line += ` ${comment}`;
    } else if (name === 'tc') {
      this.#label();
      this.#cells += 1;
    }
  }

  #beginParagraph(): void {
    this.#style = undefined;
    this.#list = {};
    this.#isLabeled = false;
  }

  #endParagraph(): void {
    this.#label();
    if (this.#changes.length > 0) this.#line += `${this.#line === '' ? '' : ' '}${describeChanges(this.#changes)}`;
    this.#changes = [];
    if (this.#cells === 0) this.#flush();
    else this.#line += ' ';
    this.#beginParagraph();
    this.#isLabeled = true;
  }

  /** Writes the mark and number of the paragraph before its first text. */
  #label(): void {
    if (this.#isLabeled) return;
    this.#isLabeled = true;
    this.#line += this.#context.lists.labelOf(this.#style, this.#list);
  }

  #add(text: string): void {
    const change = this.#open.at(-1);
    if (change !== undefined && change.text.length < longestChange) change.text += text;
    if (change?.kind === 'deleted') return;
    this.#label();
    this.#line += text;
  }

  #beginChange(name: string, attributes: XmlAttributes): void {
    const author = attributeOf(attributes, 'author') ?? '';
    const change: TrackedChange = { kind: tracked[name] ?? name, author, text: '' };
    this.#open.push(change);
    this.#changes.push(change);
  }

  #endMath(math: TreeBuilder): void {
    this.#math = undefined;
    const latex = toLatex(math.root);
    if (latex !== '') this.#add(this.#isDisplayed ? `$$${latex}$$` : `$${latex}$`);
  }

  #turnPage(): void {
    if (this.#turn === undefined) return;
    if (this.#line.trim() !== '') this.#flush();
    this.#turn();
  }

  #flush(): void {
    this.#write(this.#line);
    this.#line = '';
  }
}

/** Symbol fonts have signs of their own in the private area, which mean nothing without the font. */
function symbolOf(attributes: XmlAttributes): string {
  const code = Number.parseInt(attributeOf(attributes, 'char') ?? '', 16);
  return code >= 0x20 && code < 0xd800 ? String.fromCodePoint(code) : '';
}

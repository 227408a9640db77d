import { attributeOf } from './xml.ts';
import { childOf, childrenOf, wordsOf, type XmlNode } from './xml-tree.ts';

/** Equations of Word (OMML, ECMA-376 part 1, section 22.1) and of OpenDocument (MathML) as LaTeX. */

type Convert = (node: XmlNode) => string;

const functions =
  /^(?:sin|cos|tan|cot|sec|csc|sinh|cosh|tanh|arcsin|arccos|arctan|log|ln|exp|lim|max|min|sup|inf|det)$/;
const bigOperators: Record<string, string> = {
  '∑': '\\sum',
  '∏': '\\prod',
  '∐': '\\coprod',
  '∫': '\\int',
  '∬': '\\iint',
  '∭': '\\iiint',
  '∮': '\\oint',
  '⋃': '\\bigcup',
  '⋂': '\\bigcap',
};
const accents: Record<string, string> = {
  '\u0302': 'hat',
  '^': 'hat',
  '\u0303': 'tilde',
  '~': 'tilde',
  '\u0304': 'bar',
  '\u0305': 'overline',
  '¯': 'bar',
  '\u0307': 'dot',
  '˙': 'dot',
  '\u0308': 'ddot',
  '¨': 'ddot',
  '\u20d7': 'vec',
  '→': 'vec',
};
const fences: Record<string, string> = { '{': '\\{', '}': '\\}', '⟨': '\\langle ', '⟩': '\\rangle ', '‖': '\\|' };

export function toLatex(node: XmlNode): string {
  return inner(node).replace(/ {2,}/g, ' ').trim();
}

function inner(node: XmlNode | undefined): string {
  return childrenOf(node).map(convert).join('');
}

function convert(node: XmlNode): string {
  const rule = rules[node.name];
  if (rule !== undefined) return rule(node);
  return /Pr$/.test(node.name) || skipped.has(node.name) ? '' : inner(node);
}

const skipped = new Set([
  'annotation',
  'annotation-xml',
  'del',
  'moveFrom',
  'mspace',
  'mphantom',
  'phant',
  'instrText',
]);

/** Braces around anything longer than one character. */
function group(text: string): string {
  return `{${text.trim()}}`;
}

function part(node: XmlNode, name: string): string {
  return inner(childOf(node, name));
}

function property(node: XmlNode, name: string): string | undefined {
  const found = childOf(childOf(node, `${node.name}Pr`), name);
  return found === undefined ? undefined : (attributeOf(found.attributes, 'val') ?? '');
}

/** Of the n-th element in MathML. */
function nth(node: XmlNode, index: number): string {
  const child = childrenOf(node)[index];
  return child === undefined ? '' : convert(child);
}

function letters(text: string): string {
  const plain = text.replace(/[\u2061-\u2064]/g, '').replace(/[{}%#&$_]/g, '\\$&');
  const bare = plain.trim();
  return functions.test(bare) ? `\\${bare} ` : (bigOperators[bare] ?? plain);
}

/** A base of several characters needs braces before an index. */
function base(text: string): string {
  const bare = text.trim();
  return [...bare].length === 1 || /^\\[a-z]+$/i.test(bare) ? bare : group(bare);
}

function fenced(begin: string, end: string, content: string): string {
  return `\\left${(fences[begin] ?? begin) || '.'}${content}\\right${(fences[end] ?? end) || '.'}`;
}

function matrix(rows: XmlNode[], cell: string): string {
  const lines = rows.map((row) =>
    childrenOf(row, cell)
      .map((one) => inner(one).trim())
      .join(' & '),
  );
  return `\\begin{matrix}${lines.join(' \\\\ ')}\\end{matrix}`;
}

function accented(content: string, sign: string): string {
  return `\\${accents[sign.trim()] ?? 'hat'}${group(content)}`;
}

function over(base: string, sign: string): string {
  if (bigOperators[base.trim()] !== undefined || base.trim().startsWith('\\')) return `${base.trim()}^${group(sign)}`;
  return accents[sign.trim()] === undefined ? `\\overset${group(sign)}${group(base)}` : accented(base, sign);
}

function under(base: string, sign: string): string {
  return base.trim().startsWith('\\') ? `${base.trim()}_${group(sign)}` : `\\underset${group(sign)}${group(base)}`;
}

function nary(node: XmlNode): string {
  const sign = property(node, 'chr') ?? '∫';
  const low = part(node, 'sub');
  const high = part(node, 'sup');
  const limits = `${low === '' ? '' : `_${group(low)}`}${high === '' ? '' : `^${group(high)}`}`;
  return `${bigOperators[sign] ?? sign}${limits} ${part(node, 'e')}`;
}

const officeRules: Record<string, Convert> = {
  r: (node) => letters(childrenOf(node, 't').map(wordsOf).join('')),
  f: (node) => `\\frac${group(part(node, 'num'))}${group(part(node, 'den'))}`,
  sSup: (node) => `${base(part(node, 'e'))}^${group(part(node, 'sup'))}`,
  sSub: (node) => `${base(part(node, 'e'))}_${group(part(node, 'sub'))}`,
  sSubSup: (node) => `${base(part(node, 'e'))}_${group(part(node, 'sub'))}^${group(part(node, 'sup'))}`,
  sPre: (node) => `{}_${group(part(node, 'sub'))}^${group(part(node, 'sup'))}${part(node, 'e')}`,
  rad: (node) => {
    const degree = part(node, 'deg').trim();
    return `\\sqrt${degree === '' ? '' : `[${degree}]`}${group(part(node, 'e'))}`;
  },
  nary,
  d: (node) =>
    fenced(
      property(node, 'begChr') ?? '(',
      property(node, 'endChr') ?? ')',
      childrenOf(node, 'e')
        .map(inner)
        .join(property(node, 'sepChr') ?? '|'),
    ),
  func: (node) => `${part(node, 'fName')}${group(part(node, 'e'))}`,
  acc: (node) => accented(part(node, 'e'), property(node, 'chr') ?? '\u0302'),
  bar: (node) => `\\${property(node, 'pos') === 'top' ? 'overline' : 'underline'}${group(part(node, 'e'))}`,
  limLow: (node) => under(part(node, 'e'), part(node, 'lim')),
  limUpp: (node) => over(part(node, 'e'), part(node, 'lim')),
  m: (node) => matrix(childrenOf(node, 'mr'), 'e'),
  eqArr: (node) =>
    `\\begin{aligned}${childrenOf(node, 'e')
      .map((one) => inner(one).trim())
      .join(' \\\\ ')}\\end{aligned}`,
};

const mathRules: Record<string, Convert> = {
  mi: (node) => letters(wordsOf(node)),
  mn: (node) => wordsOf(node).trim(),
  mo: (node) => letters(wordsOf(node).trim()),
  mtext: (node) => wordsOf(node),
  ms: (node) => wordsOf(node),
  mfrac: (node) => `\\frac${group(nth(node, 0))}${group(nth(node, 1))}`,
  msup: (node) => `${base(nth(node, 0))}^${group(nth(node, 1))}`,
  msub: (node) => `${base(nth(node, 0))}_${group(nth(node, 1))}`,
  msubsup: (node) => `${base(nth(node, 0))}_${group(nth(node, 1))}^${group(nth(node, 2))}`,
  munder: (node) => under(nth(node, 0), nth(node, 1)),
  mover: (node) => over(nth(node, 0), nth(node, 1)),
  munderover: (node) => `${nth(node, 0).trim()}_${group(nth(node, 1))}^${group(nth(node, 2))} `,
  msqrt: (node) => `\\sqrt${group(inner(node))}`,
  mroot: (node) => `\\sqrt[${nth(node, 1).trim()}]${group(nth(node, 0))}`,
  mfenced: (node) =>
    fenced(node.attributes.open ?? '(', node.attributes.close ?? ')', childrenOf(node).map(convert).join(',')),
  mtable: (node) => matrix(childrenOf(node, 'mtr'), 'mtd'),
};

const rules: Record<string, Convert> = { ...officeRules, ...mathRules };

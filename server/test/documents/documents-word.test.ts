import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentBounds } from '../../src/documents/document.ts';
import { extractDocument } from '../../src/documents/extract.ts';
import { makeDocx, makeZip, paragraph } from './document-makers.ts';

/** List numbers, equations, changes and comments of Word files. */

async function linesOf(bytes: Buffer): Promise<string[]> {
  const { pages } = await extractDocument(bytes, documentBounds);
  return pages.flatMap(({ text }) => text.split('\n'));
}

const level = (at: number, format: string, text: string, more = '') =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/>${more}</w:lvl>`;
const numbered = (text: string, numId: number, at = 0) =>
  `<w:p><w:pPr><w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${numId}"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
const styled = (text: string, style: string) =>
  `<w:p><w:pPr><w:pStyle w:val="${style}"/></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;

test('numbers the clauses of a contract through styles, so that 4.2(a) can be found', async () => {
  const numbering = `<w:numbering><w:abstractNum w:abstractNumId="7">${[
    level(0, 'decimal', '%1.', '<w:pStyle w:val="Clause1"/>'),
    level(1, 'decimal', '%1.%2', '<w:pStyle w:val="Clause2"/>'),
    level(2, 'lowerLetter', '(%3)', '<w:pStyle w:val="Clause3"/>'),
    level(3, 'lowerRoman', '(%4)', '<w:pStyle w:val="Clause4"/>'),
  ].join('')}</w:abstractNum><w:num w:numId="3"><w:abstractNumId w:val="7"/></w:num></w:numbering>`;
  const style = (id: string, rest: string) => `<w:style w:styleId="${id}"><w:name w:val="${id}"/>${rest}</w:style>`;
  const numPr = '<w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr>';
  const styles = `<w:styles>${style('Clause1', numPr)}${style('Clause2', '<w:basedOn w:val="Clause1"/>')}${style('Clause3', '<w:basedOn w:val="Clause1"/>')}${style('Clause4', '<w:basedOn w:val="Clause1"/>')}</w:styles>`;
  const clauses = [1, 2, 3, 4].map((number) => styled(`Title ${number}`, 'Clause1'));
  const body = `${clauses.join('')}${styled('First', 'Clause2')}${styled('Second', 'Clause2')}${styled('Notice', 'Clause3')}${styled('in writing', 'Clause4')}${styled('Cure', 'Clause3')}`;
  const file = makeDocx(body, { 'word/numbering.xml': numbering, 'word/styles.xml': styles });
  assert.deepEqual((await linesOf(file)).slice(3), [
    '4. Title 4',
    '4.1 First',
    '4.2 Second',
    '4.2(a) Notice',
    '4.2(a)(i) in writing',
    '4.2(b) Cure',
  ]);
});

const formats: [format: string, text: string, labels: [string, string, string]][] = [
  ['decimal', '%1)', ['1)', '2)', '3)']],
  ['upperRoman', 'Article %1', ['Article I', 'Article II', 'Article III']],
  ['lowerLetter', '%1.', ['a.', 'b.', 'c.']],
  ['decimalZero', '§ %1', ['§ 01', '§ 02', '§ 03']],
  ['ordinal', '%1', ['1st', '2nd', '3rd']],
  ['bullet', '\uf0b7', ['-', '-', '-']],
];
for (const [format, text, labels] of formats) {
  test(`numbers a list as ${format} in "${text}"`, async () => {
    const numbering = `<w:numbering><w:abstractNum w:abstractNumId="0">${level(0, format, text)}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`;
    const file = makeDocx(['x', 'y', 'z'].map((word) => numbered(word, 1)).join(''), {
      'word/numbering.xml': numbering,
    });
    assert.deepEqual(await linesOf(file), [`${labels[0]} x`, `${labels[1]} y`, `${labels[2]} z`]);
  });
}

test('restarts a list where its numbering is overridden, and numbers nothing where it is off', async () => {
  const start = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>';
  const numbering = `<w:numbering><w:abstractNum w:abstractNumId="0">${level(0, 'decimal', '%1.')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="0"/>${start}</w:num></w:numbering>`;
  const body = [numbered('a', 1), numbered('b', 1), numbered('c', 2), numbered('d', 2), numbered('off', 0)].join('');
  assert.deepEqual(await linesOf(makeDocx(body, { 'word/numbering.xml': numbering })), [
    '1. a',
    '2. b',
    '5. c',
    '6. d',
    'off',
  ]);
});

const run = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
const equations: [omml: string, latex: string][] = [
  [`<m:f><m:num>${run('a')}</m:num><m:den>${run('b')}</m:den></m:f>${run('=7')}`, '$\\frac{a}{b}=7$'],
  [`<m:sSup><m:e>${run('x')}</m:e><m:sup>${run('2')}</m:sup></m:sSup>`, '$x^{2}$'],
  [
    `<m:sSubSup><m:e>${run('x')}</m:e><m:sub>${run('i')}</m:sub><m:sup>${run('-6')}</m:sup></m:sSubSup>`,
    '$x_{i}^{-6}$',
  ],
  [`<m:rad><m:deg>${run('3')}</m:deg><m:e>${run('x+1')}</m:e></m:rad>`, '$\\sqrt[3]{x+1}$'],
  [
    `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>${run('i=1')}</m:sub><m:sup>${run('n')}</m:sup><m:e>${run('i')}</m:e></m:nary>`,
    '$\\sum_{i=1}^{n} i$',
  ],
  [`<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e>${run('x')}</m:e></m:d>`, '$\\left[x\\right]$'],
];
for (const [omml, latex] of equations) {
  test(`writes an equation as ${latex}`, async () => {
    const file = makeDocx(`<w:p><w:r><w:t xml:space="preserve">So </w:t></w:r><m:oMath>${omml}</m:oMath></w:p>`);
    assert.deepEqual(await linesOf(file), [`So ${latex}`]);
  });
}

test('shows moved text once, tracked changes after their paragraph, and comments where they are', async () => {
  const text = (words: string, name = 't') => `<w:r><w:${name} xml:space="preserve">${words}</w:${name}></w:r>`;
  const body = [
    `<w:p><w:moveFrom w:id="1">${text('moved')}</w:moveFrom>${text('Start')}</w:p>`,
    `<w:p>${text('Price ')}<w:del w:author="Ada">${text('500', 'delText')}</w:del><w:ins w:author="Ada">${text('700')}</w:ins></w:p>`,
    `<w:p><w:moveTo w:id="2">${text('moved')}</w:moveTo><w:r><w:commentReference w:id="4"/></w:r></w:p>`,
  ];
  const comments = `<w:comments><w:comment w:id="4" w:author="Bob">${paragraph('Why?')}</w:comment></w:comments>`;
  assert.deepEqual(await linesOf(makeDocx(body.join(''), { 'word/comments.xml': comments })), [
    'Start',
    'Price 700 [tracked change by Ada: deleted “500”, inserted “700”]',
    'moved [comment by Bob: Why?]',
  ]);
});

test('finds the main part under any name', async () => {
  const rels =
    '<Relationships><Relationship Id="r" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument" Target="word/document2.xml"/></Relationships>';
  const types =
    '<Types><Override PartName="/word/document2.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>';
  const file = makeZip({
    '_rels/.rels': rels,
    '[Content_Types].xml': types,
    'word/document2.xml': `<w:document><w:body>${paragraph('Found')}</w:body></w:document>`,
  });
  assert.deepEqual(await linesOf(file), ['Found']);
});

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { deflateRawSync, deflateSync } from 'node:zlib';
import { type DocumentBounds, DocumentRefused, documentBounds } from '../../src/documents/document.ts';
import { extractDocument } from '../../src/documents/extract.ts';
import { extractInSandbox } from '../../src/documents/extractor.ts';
import { openTestSandbox } from '../sandbox/parsing.ts';
import { makeDocx, makeEpub, makeOdf, makePdf, makePdfOf, makeZip, paragraph } from './document-makers.ts';

/** Files that are broken, locked or malicious: each is refused with a reason, or read up to the damage. */

const sandbox = openTestSandbox();
after(() => sandbox.close());

const mebibyte = 1024 * 1024;
const small = (bounds: Partial<DocumentBounds>): DocumentBounds => ({ ...documentBounds, ...bounds });

const read = (bytes: Uint8Array, bounds = documentBounds) => extractDocument(Buffer.from(bytes), bounds);

async function refusal(bytes: Uint8Array, bounds?: DocumentBounds): Promise<string> {
  const error = await read(bytes, bounds).then(
    () => assert.fail('it was read'),
    (error: unknown) => error,
  );
  assert.ok(error instanceof DocumentRefused, String(error));
  return error.code;
}

const inSandbox = (bytes: Uint8Array, bounds: Partial<DocumentBounds>) =>
  extractInSandbox(sandbox, bytes, AbortSignal.timeout(300_000), small(bounds));

test('refuses decompression bombs before they fill the memory', async () => {
  const zeros = deflateRawSync(Buffer.alloc(8 * mebibyte));
  const bomb = makeZip({}, { deflated: { 'word/document.xml': zeros } });
  assert.equal(await refusal(bomb, small({ maxUnpackedBytes: 4 * mebibyte })), 'unsafe');
  // Each part is small enough, all of them are not.
  const chapters = Array.from({ length: 5 }, () => `<p>${'x'.repeat(mebibyte)}</p>`);
  assert.equal(await refusal(makeEpub(chapters), small({ maxUnpackedBytes: 4 * mebibyte })), 'unsafe');
});

test('refuses entities that a file declares, whatever their target', async () => {
  const laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>';
  const outside = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>';
  const parameter = '<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1/x"> %a;]>';
  for (const head of [laughs, outside, parameter]) {
    const xml = `<?xml version="1.0"?>${head}<w:document><w:body>${paragraph('&a;')}</w:body></w:document>`;
    assert.equal(await refusal(makeZip({ 'word/document.xml': xml })), 'unsafe', head);
    const wide = Buffer.concat([Buffer.from('fffe', 'hex'), Buffer.from(xml, 'utf16le')]);
    assert.equal(await refusal(makeZip({ 'word/document.xml': wide })), 'unsafe', head);
  }
  const undeclared = makeDocx(paragraph('a &unknown; b'));
  assert.equal((await read(undeclared)).pages[0]?.text, 'a &unknown; b');
});

test('reports locked files as locked', async () => {
  assert.equal(await refusal(makeZip({ 'word/document.xml': 'x' }, { flags: 1 })), 'password');
  const office = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]);
  assert.equal(await refusal(office), 'password');
  const manifest = '<manifest:manifest><manifest:encryption-data/></manifest:manifest>';
  assert.equal(await refusal(makeOdf('text', '', { 'META-INF/manifest.xml': manifest })), 'password');
  const encryption = '<encryption><CipherReference URI="OEBPS/text/c0.xhtml"/></encryption>';
  assert.equal(await refusal(makeEpub(['<p>x</p>'], { 'META-INF/encryption.xml': encryption })), 'password');
  const key = `<${'ab'.repeat(32)}>`;
  const pdf = makePdfOf(
    ['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 0 /Kids [] >>'],
    `/ID [${key} ${key}] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O ${key} /U ${key} >> `,
  );
  assert.equal(await refusal(pdf), 'password');
});

test('refuses truncated, cyclic and foreign files', async () => {
  const whole = makeDocx(paragraph('text '.repeat(200)));
  for (const share of [0.1, 0.5, 0.9, 0.99]) {
    assert.equal(await refusal(whole.subarray(0, whole.length * share)), 'damaged', `${share}`);
  }
  assert.equal(await refusal(Buffer.from('%PDF-1.7\nnothing')), 'damaged');
  const cyclic = makePdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 2 /Kids [2 0 R 2 0 R] >>']);
  assert.equal(await refusal(cyclic), 'damaged');
  assert.equal(await refusal(makeZip({ '[Content_Types].xml': '<Types/>' })), 'damaged');
  assert.equal(await refusal(makeZip({ 'a.bin': 'x' })), 'unsupported');
  assert.equal(await refusal(Buffer.from('7f454c4602010100000000000000000003003e00', 'hex')), 'unsupported');
  assert.equal(await refusal(Buffer.from('d0cf11e0a1b11ae10000', 'hex')), 'unsupported');
  assert.equal(await refusal(Buffer.alloc(0)), 'no_text');
  assert.equal(await refusal(makeDocx('')), 'no_text');
  assert.equal(await refusal(makePdf([''])), 'no_text');
  assert.equal(await refusal(Buffer.from(`{\\rtf1 ${'{'.repeat(5_000)}`)), 'damaged');
});

test('reads files with too many pages or too much text up to the limits', async () => {
  const pages = await read(makePdf(['one', 'two', 'three']), small({ maxPages: 2 }));
  assert.deepEqual(
    [pages.pages.map(({ text }) => text), pages.warnings.map(({ code }) => code)],
    [['one', 'two'], ['pages_cut']],
  );
  const claims = makePdf(['one']).toString('latin1').replace('/Count 1', '/Count 9');
  const claimed = await read(Buffer.from(claims, 'latin1'));
  assert.equal(claimed.pages[0]?.text, 'one');
  const cell = `<table:table-cell table:number-columns-repeated="16000"><text:p>${'x'.repeat(100)}</text:p></table:table-cell>`;
  const row = `<table:table-row table:number-rows-repeated="1000000">${cell}</table:table-row>`;
  const sheet = makeOdf('spreadsheet', `<table:table table:name="S">${row}</table:table>`);
  const repeated = await read(sheet, small({ maxTextBytes: 2 * mebibyte }));
  assert.deepEqual(
    repeated.warnings.map(({ code }) => code),
    ['text_cut'],
  );
  const bytes = repeated.pages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  assert.ok(bytes <= 2 * mebibyte && bytes > mebibyte, `${bytes}`);
});

test('refuses endless nesting immediately', async () => {
  const before = process.cpuUsage();
  const deep = `${'<w:tbl><w:tr><w:tc>'.repeat(50_000)}${paragraph('x')}`;
  assert.equal(await refusal(makeDocx(deep)), 'unsafe');
  await assert.rejects(read(Buffer.from(`<html>${'<div>'.repeat(100_000)}`)), { code: 'unsafe' });
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 20_000_000, `${user + system} µs`);
});

test('reads and returns the longest text in full', async () => {
  const text = 'Words of a long text, line by line, on and on.\n'.repeat(30_000);
  const share = text.length / documentBounds.maxTextBytes;
  const maxPages = Math.floor(documentBounds.maxPages * share);
  const answer = await inSandbox(Buffer.from(text), { maxPages });
  assert.ok('document' in answer);
  const { pages, warnings } = answer.document;
  assert.deepEqual(warnings, []);
  assert.equal(pages.map(({ pieces }) => pieces.map((piece) => piece.text).join('')).join('\n'), text.trimEnd());
});

test('a file that takes too long or too much memory ends only the process that reads it', async () => {
  assert.deepEqual(await inSandbox(makeDocx(paragraph('x')), { timeoutMs: 1 }), {
    problem: { code: 'too_slow', message: 'Reading the file takes too long.' },
  });
  const page = (stream: Uint8Array) =>
    makePdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>',
      { dictionary: '/Filter /FlateDecode', stream },
    ]);
  const spaces = deflateSync(Buffer.alloc(160 * mebibyte, ' '), { level: 1 });
  const bomb = await inSandbox(page(spaces), { heapMb: 64, maxBufferBytes: 64 * mebibyte });
  assert.equal('problem' in bomb && bomb.problem.code, 'too_much_memory');
  const fine = await inSandbox(makeDocx(paragraph('x')), {});
  assert.deepEqual('document' in fine && fine.document.pages, [
    { label: 'part 1', pieces: [{ text: 'x', words: 'x' }] },
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentBounds } from '../../src/documents/document.ts';
import { extractDocument } from '../../src/documents/extract.ts';

/** E-mails from mailbox files and in other encodings. */

const message = (subject: string) =>
  `From: a@example.org\nSubject: ${subject}\nMIME-Version: 1.0\n\nBody of ${subject}\n`;
const pagesOf = async (bytes: Buffer) => (await extractDocument(bytes, documentBounds)).pages.map(({ text }) => text);
const shown = (subject: string) => `From: a@example.org\nSubject: ${subject}\n\nBody of ${subject}`;

test('reads an e-mail that begins with a line of a mailbox file', async () => {
  const mail = `From a@example.org Sat Jan  3 01:05:34 2026\n${message('One')}`;
  assert.deepEqual(await pagesOf(Buffer.from(mail)), [shown('One')]);
});

test('reads each message of a mailbox file on a page of its own', async () => {
  const line = 'From a@example.org Sat Jan  3 01:05:34 2026\n';
  for (const end of ['\n', '\r\n']) {
    const box = `${line}${message('One')}\n${line}${message('Two')}`.replaceAll('\n', end);
    assert.deepEqual(await pagesOf(Buffer.from(box)), [shown('One'), shown('Two')]);
  }
});

test('reads an e-mail in UTF-16', async () => {
  assert.deepEqual(await pagesOf(Buffer.from(`\ufeff${message('Größe')}`, 'utf16le')), [shown('Größe')]);
});

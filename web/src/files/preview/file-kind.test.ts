import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileIcon } from './file-kind.ts';

test('gives a file the same icon with and without a media type', () => {
  for (const [filename, mediaType] of [
    ['photo.bmp', 'image/bmp'],
    ['script.py', 'text/plain'],
    ['notes.md', 'text/markdown'],
    ['table.csv', 'application/octet-stream'],
    ['data.json', 'application/json'],
    ['song.mp3', 'audio/mpeg'],
    ['all.tar.gz', 'application/gzip'],
    ['paper.pdf', 'application/pdf'],
  ] as const) {
    assert.equal(fileIcon({ filename, mediaType }), fileIcon({ filename, mediaType: '' }), filename);
  }
});

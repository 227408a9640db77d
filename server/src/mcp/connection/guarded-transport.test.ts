import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BrokenBound, createMcpFetch } from './guarded-transport.ts';

const url = 'https://mcp.example.org/mcp';
const ignore = () => undefined;

/** Reads such a response in pieces of this size. Returns the text, or the broken bound, which was also reported. */
async function read(type: string, text: string, pieceBytes: number): Promise<string | BrokenBound> {
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes);
  }
  const base = async () => new Response(ReadableStream.from(pieces()), { headers: { 'content-type': type } });
  const broken: BrokenBound[] = [];
  const events = { onFailure: ignore, onStream: ignore, onBroken: (error: BrokenBound) => void broken.push(error) };
  const response = await createMcpFetch(base, new URL(url).origin, events)(url, { method: 'POST' });
  return response.text().catch((error: unknown) => {
    assert.ok(error instanceof BrokenBound && broken[0] === error, String(error));
    return error;
  });
}

const members = `{${Array.from({ length: 40_000 }, (_, index) => `"k${index}":1`)}}`;
const list = `[${'1,'.repeat(150_000)}1]`;
const deep = '['.repeat(100_000);

for (const [what, json] of Object.entries({ members, list, deep })) {
  test(`a message that would take long to parse is not read to its end: ${what}`, async () => {
    for (const pieceBytes of [1_000, 65_536]) {
      assert.ok((await read('application/json', json, pieceBytes)) instanceof BrokenBound);
      const stream = 'text/event-stream';
      assert.ok((await read(stream, `event: message\ndata: ${json}\n\n`, pieceBytes)) instanceof BrokenBound);
      // A quote elsewhere in the event does not open a text that hides what follows.
      assert.ok((await read(stream, `: "\r\nid: "\ndata: ${json}\r\n\r\n`, pieceBytes)) instanceof BrokenBound);
    }
  });
}

test('reads many messages and large texts unchanged', async () => {
  const event = `data: {"text":"a \\"quoted\\" [text],","list":[${'1,'.repeat(1_000)}1]}\n\n`;
  const many = event.repeat(500);
  assert.equal(await read('text/event-stream', many, 4_001), many);
  const large = JSON.stringify({ result: { content: [{ type: 'text', text: '[{,:"'.repeat(1_000_000) }] } });
  assert.equal(await read('application/json', large, 65_536), large);
});

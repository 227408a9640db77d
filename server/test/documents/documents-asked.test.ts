import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Json, type SignedIn, startTestApp, type TestApp } from '../app.ts';
import { makeProject, upload } from '../artifacts/artifact-makers.ts';
import { addModels, createChat, nextId, postChat, readStream } from '../chat/chat-harness.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/provider/provider.ts';
import { chunk, finish, say } from '../fakes/provider/provider-scripts.ts';
import { makeDocx } from './document-makers.ts';

/** Documents of everyday work, as a model gets them when a person asks about them. */

let app: TestApp;
let provider: FakeProvider;
let user: SignedIn;
let researcher: string;
before(async () => {
  provider = await startFakeProvider();
  app = await startTestApp();
  user = await app.signIn();
  [, researcher = ''] = await addModels(user, provider, ['words-3', 'researcher']);
});
after(async () => {
  await app.stop();
  await provider.close();
});

async function store(scope: object, name: string, bytes: Uint8Array | string): Promise<object> {
  const stored = await upload(user, { ...scope }, { name, bytes, type: 'application/octet-stream' });
  assert.equal(stored.status, 201, stored.text);
  return { type: 'file', mediaType: 'text/plain', filename: 'x', url: `artifact://${stored.body.artifact.id}` };
}

async function ask(chatId: string, parts: object[], extra: object = {}): Promise<Json> {
  const message = { id: nextId('m'), parts };
  const admitted = await user.call('POST /api/chat/start', { chatId, message, ...extra });
  assert.equal(admitted.status, 201, admitted.text);
  assert.equal((await readStream(await postChat(user, { chatId, messageId: message.id }))).status, 200);
  return (provider.requests.at(-1) as Json).body;
}

const levels: [format: string, text: string][] = [
  ['decimal', '%1.'],
  ['decimal', '%1.%2'],
  ['lowerLetter', '(%3)'],
];
const numbering = `<w:numbering><w:abstractNum w:abstractNumId="7">${levels
  .map(
    ([format, text], at) =>
      `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/><w:pStyle w:val="Clause${at}"/></w:lvl>`,
  )
  .join('')}</w:abstractNum><w:num w:numId="3"><w:abstractNumId w:val="7"/></w:num></w:numbering>`;
const styles = `<w:styles>${[0, 1, 2]
  .map(
    (at) =>
      `<w:style w:styleId="Clause${at}"><w:name w:val="Clause ${at}"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>`,
  )
  .join('')}</w:styles>`;

/** Forty pages: ten clauses of four parts with three items each, a part on each page. */
function makeContract(notice: string): Buffer {
  const paragraph = (text: string, at: number, turn = '') =>
    `<w:p><w:pPr><w:pStyle w:val="Clause${at}"/></w:pPr><w:r>${turn}<w:t>${text}</w:t></w:r></w:p>`;
  const usual = 'The parties act in good faith and keep the terms of this agreement. '.repeat(25);
  let body = '';
  for (let clause = 1; clause <= 10; clause++) {
    body += paragraph(`Subject ${clause}`, 0);
    for (let part = 1; part <= 4; part++) {
      const turn = clause * part === 1 ? '' : '<w:lastRenderedPageBreak/>';
      body += paragraph(usual, 1, turn);
      for (let item = 1; item <= 3; item++) {
        const isAsked = clause === 4 && part === 2 && item === 1;
        body += paragraph(isAsked ? notice : `Item for ${clause}, ${part} and ${item}. ${usual}`, 2);
      }
    }
  }
  return makeDocx(body, { 'word/numbering.xml': numbering, 'word/styles.xml': styles });
}

test('a model finds clause 4.2(a) in a contract of forty pages', async () => {
  const projectId = await makeProject(app.service.deps.db.pool, [user.id]);
  const { body } = await user.call('POST /api/chats', { projectId });
  const notice = 'Either party can end this agreement with notice of ninety days.';
  const file = await store({ projectId }, 'contract.docx', makeContract(notice));
  provider.script('researcher', (call) => {
    if (call.body.messages?.some(({ role }) => role === 'tool')) {
      return { steps: [...say('Ninety days.'), ...finish(call, 5)] };
    }
    const query = JSON.stringify({ query: 'What does clause 4.2(a) say?' });
    const search = { index: 0, id: 'c0', type: 'function', function: { name: 'search_documents', arguments: query } };
    return { steps: [chunk({ tool_calls: [search] }), ...finish(call, 5, 'tool_calls')] };
  });
  const decision = { modelPinned: true, modelId: researcher };
  const last = await ask(body.chat.id, [{ type: 'text', text: 'What does clause 4.2(a) say?' }, file], decision);
  assert.match(JSON.stringify(last.messages), /contract\.docx .* is too long \(40 pages/);
  const found = JSON.parse(last.messages.findLast(({ role }: Json) => role === 'tool').content);
  assert.equal(found.results[0].cite, '[contract.docx, page 14]');
  assert.match(found.results[0].snippet, /4\.2\(a\) Either party can end this agreement with notice of ninety days/);
});

const mail = [
  'From: =?UTF-8?Q?J=C3=BCrgen?= <j@example.org>',
  'To: Ann <ann@example.org>',
  'Subject: =?UTF-8?B?R3LDvMOfZSBhdXMgS8O2bG4=?=',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b1',
  '',
  '--b1',
  'Content-Type: text/plain; charset=ISO-8859-1',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'Der Preis betr=E4gt 480 Euro.',
  '--b1',
  'Content-Type: application/pdf; name=offer.pdf',
  'Content-Disposition: attachment; filename=offer.pdf',
  'Content-Transfer-Encoding: base64',
  '',
  'JVBERi0xLjQK'.repeat(50),
  '--b1--',
  '',
].join('\r\n');

test('a model gets an attached e-mail decoded, as the preview shows it', async () => {
  const chatId = await createChat(user);
  const decoded =
    'From: Jürgen <j@example.org>\nTo: Ann <ann@example.org>\nSubject: Grüße aus Köln\n\nDer Preis beträgt 480 Euro.\n[Attached: offer.pdf]';
  const names = [
    ['offer.eml', decoded],
    ['renamed.txt', decoded],
  ] as const;
  for (const [name, text] of names) {
    const { messages } = await ask(chatId, [await store({ chatId }, name, mail)]);
    assert.equal(messages.at(-1).content, `[File ${name}]\n${text}`);
  }
  const letter = 'From: me\nDear all,\nthis is no e-mail.\n';
  const { messages } = await ask(chatId, [await store({ chatId }, 'letter.txt', letter)]);
  assert.equal(messages.at(-1).content, `[File letter.txt]\n${letter}`);
});

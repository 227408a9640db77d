import assert from 'node:assert/strict';
import { test } from 'node:test';
import { skillsOffFor } from '../../src/assistants/shipped-skills.ts';
import type { Json, SignedIn } from '../app.ts';
import type { AgentChat, Call } from '../assistants/agent-makers.ts';
import { skillText } from '../assistants/skill-makers.ts';
import { article } from '../fakes/web-site.ts';
import { runCalls, webApp } from './web-makers.ts';

/** The skill `/research` of the release, and the report that it ends with. */

const web = webApp();

const search = (query: string): Call => ({ name: 'web_search', input: { query } });
const readResult = (resultId: string): Call => ({ name: 'read_page', input: { resultId } });
const report = (text: string, more: object = {}): Call => ({
  name: 'write_report',
  input: { title: 'Tides', text, ...more },
});
const lastRequest = (model: string) => web.agents.provider.requests.findLast(({ body }) => body.model === model);
const toolsOf = (model: string): string[] =>
  lastRequest(model)?.body.tools?.flatMap((tool) => tool.function?.name ?? []) ?? [];
const systemOf = (model: string): string => String(lastRequest(model)?.body.messages?.[0]?.content);
const textOf = async ({ user, chatId }: AgentChat, id: string) =>
  (await user.fetch(`/api/artifacts/download?chatId=${chatId}&id=${id}`)).text();
const toggle = (user: SignedIn, audience: string, enabled: boolean, name = 'research') =>
  user.call('PATCH /api/skills/shipped', { name, audience, enabled });
const shippedOf = async (user: SignedIn): Promise<Json> => (await user.call('GET /api/skills')).body.shipped[0];

async function startWithPages(): Promise<AgentChat> {
  const chat = await web.agents.startChat();
  web.finds('/moon', '/wind', '/sea');
  web.site.page('/moon', article('The [Moon]', '<p>The tide rises twice a day.</p>'));
  web.site.page('/wind', article('Wind', '<p>Wind moves water, too.</p>'));
  web.site.page('/sea', article('Sea', '<p>Spring tides come every two weeks.</p>'));
  return chat;
}

test('/research leads from a question over searches and pages to a report with numbered sources', async () => {
  const chat = await startWithPages();
  const text = 'It says “The tide rises twice a day.” [1] Spring tides come every fortnight [3].';
  const { calls, asked, outputs } = await runCalls(
    web,
    chat,
    [
      [{ name: 'plan', input: { items: [{ content: 'Find out', status: 'in_progress' }] } }],
      [search('tides'), search('spring tides')],
      [readResult('1'), readResult('2'), readResult('3')],
      [report(text)],
    ],
    { text: '/research What makes the tide?' },
  );
  assert.deepEqual(
    calls.map(({ state }) => state),
    calls.map(() => 'output-available'),
  );
  assert.deepEqual(asked, []);
  assert.match(
    systemOf(chat.model),
    /The person wrote \/research: follow this skill[\s\S]*<skill name="research">\n# Research/,
  );
  const written = outputs.at(-1);
  assert.deepEqual([written.path, written.version, written.sources], ['reports/Tides.md', 1, 2]);
  assert.equal(written.link, `[Tides.md](artifact://${written.id})`);
  assert.equal(
    (await textOf(chat, written.id)).replaceAll(/\d{4}-\d{2}-\d{2}/g, 'DATE'),
    `# Tides\n\n${text}\n\n## Sources\n\n- [1] The \\[Moon\\]. <${web.site.url}/moon> (DATE)\n- [3] Sea. <${web.site.url}/sea> (DATE)\n`,
  );
  const files = await chat.user.call('GET /api/artifacts', undefined, { query: { chatId: chat.chatId } });
  assert.deepEqual(
    files.body.artifacts.map(({ path }: Json) => path),
    ['reports/Tides.md'],
  );
});

test('after a report was written, tools with effects still need approval', async () => {
  const chat = await startWithPages();
  const run = { name: 'bash', input: { command: 'touch obeyed' } };
  const { asked } = await runCalls(web, chat, [[search('tides')], [report('Twice a day [1].')], [run]]);
  assert.deepEqual(asked, ['bash']);
});

test('refuses a report without sources or with numbers that are none, and names misquotes', async () => {
  const chat = await startWithPages();
  const { calls, outputs } = await runCalls(web, chat, [
    [search('tides')],
    [readResult('1')],
    [report('Nothing is cited.')],
    [report('Cited wrongly [1] [8] [999999].')],
    [report('“The tide rises thrice a day.” [1]')],
    [report('“The tide rises twice a day.” [1]', { sourcesHeading: 'Quellen\n# x' })],
    [report('Up and out [1].', { title: '../a/b' })],
    [report('Long [1].', { title: '海'.repeat(80) })],
    [report('Too long [1].', { title: '海'.repeat(81) })],
  ]);
  assert.match(calls[2]?.errorText ?? '', /cites no source/);
  assert.match(calls[3]?.errorText ?? '', /no source 8, 999999\./);
  assert.deepEqual(outputs[4].misquotes, [{ number: 1, quote: 'The tide rises thrice a day.' }]);
  assert.deepEqual([outputs[5].version, outputs[5].misquotes], [2, undefined]);
  assert.match(await textOf(chat, outputs[5].id), /\n## Quellen \\# x\n/);
  assert.equal(outputs[6].path, 'reports/..-a-b.md');
  assert.equal(outputs[7].path, `reports/${'海'.repeat(80)}.md`);
  assert.equal(calls[8]?.state, 'output-error');
});

test('a report is held to the size limit of files that administrators set in the page', async () => {
  const chat = await startWithPages();
  const setLimit = async (artifactMaxUploadBytes: number | null) =>
    assert.equal((await web.admin.call('PATCH /api/admin/settings', { artifactMaxUploadBytes })).status, 200);
  await setLimit(100);
  try {
    const { calls } = await runCalls(web, chat, [[search('tides')], [report(`Tides rise [1]. ${'x'.repeat(200)}`)]]);
    assert.match(calls[1]?.errorText ?? '', /larger than the limit for files \(100 bytes\)/);
  } finally {
    await setLimit(null);
  }
});

test('offers /research only with the web, unless the person or an administrator has switched it off', async () => {
  const chat = await startWithPages();
  const ran = async (extra: object = {}) => {
    await runCalls(web, chat, [], { text: '/research tides', extra });
    const offered = toolsOf(chat.model).filter((name) => ['skill', 'write_report'].includes(name));
    return [offered.join(' '), systemOf(chat.model).includes('research')];
  };
  const on = ['skill write_report', true];
  const off = ['', false];
  assert.deepEqual(await ran(), on);
  assert.deepEqual(await ran({ web: false }), off);
  assert.equal((await toggle(chat.user, 'me', false)).body.skill.enabled, false);
  assert.equal((await toggle(chat.user, 'me', false)).status, 200);
  assert.deepEqual(await ran(), off);
  assert.deepEqual(
    await web.agents
      .startChat()
      .then(({ user }) => shippedOf(user))
      .then(({ enabled }) => enabled),
    true,
  );
  await toggle(chat.user, 'me', true);
  assert.deepEqual(await ran(), on);
  assert.equal((await toggle(chat.user, 'everyone', false)).status, 403);
  assert.equal((await toggle(web.admin, 'everyone', false)).status, 200);
  const { enabled, enabledForEveryone } = await shippedOf(chat.user);
  assert.deepEqual([enabled, enabledForEveryone, await ran()], [true, false, off]);
  assert.equal((await toggle(web.admin, 'everyone', true)).body.skill.enabledForEveryone, true);
  assert.deepEqual(await ran(), on);
  const { events } = (await web.admin.call('GET /api/admin/audit')).body;
  const changes = events.filter(({ targetId }: Json) => targetId === 'research');
  assert.deepEqual(
    changes.map(({ action, details }: Json) => [action, details.enabled]),
    [
      ['skill.updated', true],
      ['skill.updated', false],
    ],
  );
  assert.equal((await toggle(chat.user, 'me', true, 'none')).status, 404);
  assert.equal((await toggle(chat.user, 'project', true)).status, 400);
});

test('the model loads the skill by name, and a person’s own skill of that name comes first', async () => {
  const chat = await startWithPages();
  const load = [{ name: 'skill', input: { name: 'research' } }];
  const file = [{ name: 'skill', input: { name: 'research', file: 'a.md' } }];
  const shipped = await runCalls(web, chat, [load, file]);
  assert.match(shipped.outputs[0], /^\[skill research\]\n\n# Research/);
  assert.equal(shipped.calls[1]?.state, 'output-error');
  const form = new FormData();
  form.set('file', new Blob([skillText('research', 'My own way.')]), 'SKILL.md');
  assert.equal((await chat.user.fetch('/api/skills', { method: 'POST', body: form })).status, 201);
  const own = await runCalls(web, chat, [load], { text: '/research tides' });
  assert.match(own.outputs[0], /My own way\./);
  assert.match(systemOf(chat.model), /<skill name="research">\nMy own way\.\n<\/skill>/);
  assert.equal(systemOf(chat.model).split('- research:').length, 2);
});

test('the export of an account names the skills that it has switched off', async () => {
  const user = await web.app.signIn();
  await toggle(user, 'me', false);
  const { database } = web.app.database;
  assert.deepEqual(await skillsOffFor(database.kysely, user.id), ['research']);
  const exported = await user.fetch('/api/me/export');
  assert.equal(exported.status, 200);
  await exported.arrayBuffer();
});

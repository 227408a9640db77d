import { type ChildProcess, spawn } from 'node:child_process';
import { createServer as createHttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { addModels } from '../../product.ts';
import { expectAccessible, expectAccessibleHere, expectNoSidewaysScroll } from '../accessible.ts';
import { test as base, expect } from '../fixtures.ts';

/** Resources, prompts and questions of the protocol's reference server, which runs in a process of its own. */

const test = base.extend<{ everything: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures from the pattern
  everything: async ({}, use) => {
    const { url, child } = await startEverything();
    await use(url);
    child.kill('SIGKILL');
  },
});

async function startEverything(): Promise<{ url: string; child: ChildProcess }> {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as AddressInfo;
  await new Promise((resolve) => taken.close(resolve));
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
  const child = spawn(process.execPath, [join(dirname(manifest), 'dist/index.js'), 'streamableHttp'], {
    env: { PATH: process.env.PATH, PORT: String(port) },
  });
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the reference server has ended')));
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (said) => String(said).includes(String(port)) && resolve());
    }
  });
  return { url: `http://127.0.0.1:${port}/mcp`, child };
}

test('attaches a resource with its source, and inserts a prompt as unsent text', async ({
  page,
  installation,
  person,
  provider,
  everything,
}) => {
  await addModels(person.caller, provider, ['echo']);
  const { server } = await person.caller.must('POST', '/api/mcp', { name: 'Everything', url: everything });
  await person.caller.must('POST', '/api/mcp/trust', { id: server.id, fingerprint: server.fingerprint });
  await page.goto(installation.url);
  const dialog = page.getByRole('dialog');
  const field = page.getByLabel('Message', { exact: true });

  await page.getByRole('button', { name: 'Add files and tools' }).click();
  await page.getByRole('menuitem', { name: 'Attach from an MCP server…' }).click();
  await expect(dialog.getByRole('list', { name: 'Resources' })).toBeVisible();
  await expect(dialog).not.toContainText('unexpected response');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  const template = dialog.getByRole('group', { name: 'Dynamic Text Resource' });
  await template.getByLabel('resourceId').fill('7');
  await template.getByRole('button', { name: 'Attach' }).click();
  const tray = page.getByRole('list', { name: 'Files in this message' });
  await expect(tray).toContainText('7.txt');
  await expect(tray).toContainText('MCP server “Everything”, demo://resource/dynamic/text/7');
  await expectAccessibleHere(page);

  await field.pressSequentially('Look: /args');
  await page.getByRole('option', { name: /args-prompt/ }).click();
  await dialog.getByRole('button', { name: 'Insert' }).click();
  await expect(dialog).toContainText('Enter something here.');
  await dialog.getByLabel('city').fill('Kiel');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Insert' }).click();
  await expect(field).toHaveValue("Look: What's weather in Kiel?");
  // No message was sent.
  expect(
    (await person.caller.must('GET', '/api/chats')).chats.flatMap((chat: { title: string }) => chat.title),
  ).toHaveLength(1);
});

/** A model that calls this tool of the server once and answers with its result. */
async function startCaller(name: string): Promise<{ url: string; close(): void }> {
  const server = createHttpServer(async (request, response) => {
    const { messages = [] } = JSON.parse((await text(request)) || '{}');
    const last = messages.at(-1);
    const call = {
      index: 0,
      id: `call-${messages.length}`,
      function: { name: `mcp__Everything__${name}`, arguments: '{}' },
    };
    const isDone = last?.role === 'tool';
    const delta = isDone ? { content: `It came to: ${last.content.includes('"Ada"')}` } : { tool_calls: [call] };
    const events = [{ delta }, { delta: {}, finish_reason: isDone ? 'stop' : 'tool_calls' }];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const lines = events.map((event) => `data: ${JSON.stringify({ choices: [{ index: 0, ...event }] })}\n\n`);
    response.end(`${lines.join('')}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => server.close() };
}

test('shows a question of a running tool with its server, and returns the answer', async ({
  page,
  installation,
  person,
  everything,
}) => {
  const model = await startCaller('trigger-elicitation-request');
  await addModels(person.caller, model.url, ['caller']);
  const { server } = await person.caller.must('POST', '/api/mcp', { name: 'Everything', url: everything });
  await person.caller.must('POST', '/api/mcp/trust', { id: server.id, fingerprint: server.fingerprint });
  const { chat } = await person.caller.must('POST', '/api/chats', { title: 'Questions' });
  await page.goto(`${installation.url}/c/${chat.id}`);
  await page.getByLabel('Message', { exact: true }).fill('Go');
  await page.getByLabel('Message', { exact: true }).press('Enter');
  const card = page.getByRole('region', { name: 'Everything asks' });
  await expect(card).toContainText('Don’t enter passwords or keys.');
  await expect(card.getByRole('button', { name: 'Answer' })).toBeDisabled();
  await expectAccessibleHere(page);
  await expectNoSidewaysScroll(page);
  await card.getByRole('textbox').first().fill('Ada');
  await card.getByRole('button', { name: 'Answer' }).click();
  await expect(page.getByText('It came to: true')).toBeVisible();
  await expect(card).toContainText('You answered.');
  model.close();
});

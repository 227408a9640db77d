import { once } from 'node:events';
import { ZipFile } from 'yazl';
import { until } from '../../../contracts/test/until.ts';
import type { Json, SignedIn } from '../app.ts';

/** Small archives in other programs' formats, and the tests' imports of them. */

export async function zipOf(entries: Readonly<Record<string, string | Buffer | object>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(entries)) {
    const isPlain = typeof content === 'string' || Buffer.isBuffer(content);
    zip.addBuffer(Buffer.from(isPlain ? content : JSON.stringify(content)), name);
  }
  zip.end();
  const chunks: Buffer[] = [];
  zip.outputStream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(zip.outputStream, 'end');
  return Buffer.concat(chunks);
}

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Uploads an archive and waits until it has been read, imported or refused. */
export async function bring(who: SignedIn, archive: Buffer | string, query = ''): Promise<Json> {
  const response = await who.fetch(`/api/imports${query}`, { method: 'POST', body: Buffer.from(archive) });
  const body: Json = await response.json();
  if (response.status !== 202) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return settled(who, body.import.id);
}

const moving = new Set(['reading', 'importing']);

export async function settled(who: SignedIn, id: string): Promise<Json> {
  return until('the import to end', async () => {
    const { body } = await who.call('GET /api/imports', undefined, { query: { id } });
    return moving.has(body.import.state) ? undefined : body;
  });
}

/** Every conversation of a user as the API returns it, without the ids and times that an import assigns. */
export async function conversationsOf(who: SignedIn): Promise<Json[]> {
  const found: Json[] = [];
  for (const archived of [undefined, '1']) {
    const query: Record<string, string> = archived === undefined ? {} : { archived };
    const { body } = await who.call('GET /api/chats', undefined, { query });
    for (const { id } of body.chats) {
      const exported = await who.fetch(`/api/chats/export?id=${id}&format=json`);
      found.push(await exported.json());
    }
  }
  return found.sort((a, b) => (a.chat.title < b.chat.title ? -1 : 1));
}

const at = (minute: number): number => Date.UTC(2026, 4, 1, 10, minute) / 1000;
const messageOf = (role: string, parts: unknown[], more: object = {}) => ({
  author: { role },
  content: { content_type: 'text', parts },
  recipient: 'all',
  status: 'finished_successfully',
  ...more,
});
const node = (id: string, parent: string | null, message: object | null) => ({ id, parent, children: [], message });

/** Branches, reasoning, a tool with its result, a citation, a picture, hidden messages, missing times and metadata. */
export const chatGptConversation = {
  conversation_id: 'cg-1',
  id: 'cg-1',
  title: 'Tides and the moon',
  create_time: at(0),
  update_time: at(30),
  current_node: 'a2',
  default_model_slug: 'gpt-4o',
  is_archived: false,
  mapping: Object.fromEntries(
    [
      node('client-created-root', null, null),
      node('s', 'client-created-root', { ...messageOf('system', ['']), id: 's', metadata: {} }),
      node('ctx', 's', {
        author: { role: 'user' },
        content: { content_type: 'user_editable_context', user_profile: 'I sail.', user_instructions: 'Be brief.' },
        metadata: { is_visually_hidden_from_conversation: true },
      }),
      node('u1', 'ctx', {
        ...messageOf('user', [
          'Why are there tides?',
          { content_type: 'image_asset_pointer', asset_pointer: 'sediment://file_aaaaaaaa11' },
        ]),
        create_time: at(1),
        content: {
          content_type: 'multimodal_text',
          parts: [
            'Why are there tides?',
            { content_type: 'image_asset_pointer', asset_pointer: 'sediment://file_aaaaaaaa11' },
          ],
        },
      }),
      node('t1', 'u1', {
        author: { role: 'assistant' },
        create_time: at(2),
        content: { content_type: 'thoughts', thoughts: [{ summary: 'Gravity', content: 'Think of the moon.' }] },
      }),
      node('r1', 't1', {
        author: { role: 'assistant' },
        create_time: null,
        content: { content_type: 'reasoning_recap', content: 'Thought for 4s' },
      }),
      node('c1', 'r1', {
        author: { role: 'assistant' },
        recipient: 'python',
        create_time: at(3),
        content: { content_type: 'code', language: 'python', text: 'print(6*2)' },
      }),
      node('o1', 'c1', {
        author: { role: 'tool', name: 'python' },
        create_time: at(3),
        content: { content_type: 'execution_output', text: '12' },
        metadata: {},
      }),
      node('a1', 'o1', {
        ...messageOf('assistant', [
          'The moon pulls. \ue200cite\ue202turn0search0\ue201 Twice a day, \ue200entity\ue202["city","Kiel","port"]\ue201 too.citeturn2view3turn1search0',
        ]),
        create_time: at(4),
        metadata: {
          model_slug: 'o3',
          content_references: [
            {
              matched_text: '\ue200cite\ue202turn0search0\ue201',
              type: 'grouped_webpages',
              items: [{ title: 'NOAA', url: 'https://oceanservice.noaa.gov/tides' }],
            },
          ],
        },
      }),
      node('u2', 'a1', { ...messageOf('user', ['And in the Baltic?']), create_time: at(5) }),
      node('a2', 'u2', { ...messageOf('assistant', ['Hardly any.']), create_time: null }),
      node('a2b', 'u2', { ...messageOf('assistant', ['Small ones.']), create_time: at(7) }),
    ].map((each) => [each.id, each]),
  ),
};

export const chatGptArchive = () =>
  zipOf({
    'conversations-000.json': [
      chatGptConversation,
      { title: 'Damaged', conversation_id: 'cg-2', create_time: 1, current_node: 'x' },
    ],
    'conversations-001.json': [
      {
        ...chatGptConversation,
        conversation_id: 'cg-3',
        id: 'cg-3',
        title: null,
        is_archived: true,
        conversation_template_id: 'g-p-abcdef123',
      },
    ],
    'file_aaaaaaaa11.dat': png,
    'conversation_asset_file_names.json': { 'file_aaaaaaaa11.dat': 'moon' },
    'export_manifest.json': { export_files: [{ path: 'conversations-000.json' }, { path: 'conversations-002.json' }] },
    'chat.html': '<html></html>',
    'user.json': {},
  });

export const claudeArchive = () =>
  zipOf({
    'conversations.json': [
      {
        uuid: 'cl-1',
        name: 'Bread',
        created_at: '2026-05-02T08:00:00.000000+00:00',
        updated_at: '2026-05-02T09:00:00Z',
        chat_messages: [
          {
            uuid: 'h1',
            text: 'x',
            sender: 'human',
            created_at: '2026-05-02T08:00:01Z',
            content: [{ type: 'text', text: 'A recipe?' }],
            attachments: [{ file_name: 'old.pdf', extracted_content: 'Flour and water' }],
            files: [{ file_name: 'photo.jpg' }],
          },
          {
            uuid: 'h2',
            sender: 'assistant',
            created_at: '2026-05-02T08:00:05Z',
            content: [
              { type: 'thinking', thinking: 'Sourdough.' },
              { type: 'tool_use', id: 'tu1', name: 'web_search', input: { query: 'bread' } },
              {
                type: 'tool_result',
                tool_use_id: 'tu1',
                name: 'web_search',
                content: [{ type: 'text', text: 'Found it' }],
              },
              { type: 'token_budget' },
              { type: 'text', text: 'Mix and wait.' },
            ],
          },
        ],
      },
    ],
    'projects/p1.json': {
      uuid: 'p1',
      name: 'Bakery',
      prompt_template: 'Answer as a baker.',
      docs: [{ uuid: 'd1', filename: 'prices.md', content: 'Loaf: 4' }],
    },
    'users.json': [],
  });

export const openWebUiExport = JSON.stringify([
  {
    id: 'ow-1',
    title: 'Two models',
    created_at: at(0),
    updated_at: at(9),
    archived: true,
    chat: {
      models: ['llama3'],
      system: 'Be kind.',
      history: {
        currentId: 'm3',
        messages: {
          m1: {
            id: 'm1',
            parentId: null,
            childrenIds: ['m2', 'm3'],
            role: 'user',
            content: 'Hi',
            timestamp: at(1),
            files: [{ type: 'image', url: `data:image/png;base64,${png.toString('base64')}` }],
          },
          m2: {
            id: 'm2',
            parentId: 'm1',
            role: 'assistant',
            content:
              '<details type="reasoning" done="true" duration="3"><summary>Thought</summary>\n&gt; Greet &amp; ask\n</details>\nHello',
            model: 'llama3',
            timestamp: at(2),
          },
          m3: {
            id: 'm3',
            parentId: 'm1',
            role: 'assistant',
            content: 'ignored',
            modelName: 'Mistral',
            timestamp: at(2),
            output: [
              { type: 'reasoning', content: [{ type: 'output_text', text: 'Hm' }] },
              { type: 'function_call', call_id: 'c9', name: 'clock', arguments: '{"zone":"UTC"}' },
              { type: 'function_call_output', call_id: 'c9', output: [{ type: 'input_text', text: '10:02' }] },
              { type: 'message', content: [{ type: 'output_text', text: 'Good day' }] },
            ],
          },
        },
      },
    },
  },
]);

export const libreChatExport = JSON.stringify({
  conversationId: 'lc-1',
  endpoint: 'openAI',
  title: 'Nested',
  recursive: true,
  branches: true,
  options: { model: 'gpt-4', promptPrefix: 'You are terse.' },
  messagesTree: [
    {
      messageId: 'l1',
      parentMessageId: '00000000-0000-0000-0000-000000000000',
      isCreatedByUser: true,
      text: 'Ping',
      createdAt: '2026-01-01T00:00:00Z',
      children: [
        {
          messageId: 'l2',
          parentMessageId: 'l1',
          isCreatedByUser: false,
          text: '',
          model: 'gpt-4',
          createdAt: '2026-01-01T00:00:02Z',
          content: [
            { type: 'think', think: 'Easy' },
            { type: 'tool_call', tool_call: { id: 't', name: 'echo', args: '{"a":1}', output: 'pong' } },
            { type: 'text', text: { value: 'Pong' } },
          ],
        },
        {
          messageId: 'l3',
          parentMessageId: 'l1',
          isCreatedByUser: false,
          text: 'Pong!',
          createdAt: '2026-01-01T00:00:03Z',
        },
      ],
    },
  ],
});

export const chatbotUiExport = JSON.stringify({
  version: 4,
  folders: [{ id: 'f1', name: 'Work', type: 'chat' }],
  history: [
    {
      id: 'cb-1',
      name: 'Plan',
      folderId: 'f1',
      model: { id: 'gpt-3.5-turbo' },
      prompt: 'Plan well.',
      temperature: 0.5,
      messages: [
        { role: 'user', content: 'Plan?' },
        { role: 'assistant', content: 'Yes.' },
      ],
    },
  ],
  prompts: [],
});

import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import type { Frame } from '@homeport/contracts/frames';
import { createMessageAssembler } from '@homeport/contracts/message-assembly';

const out = process.env.OUT ?? join(import.meta.dirname, '../../dist/web');
const now = () => new Date().toISOString();
const user = {
  id: 'u1',
  name: 'Ada Lovelace',
  email: 'ada@example.org',
  role: 'admin',
  enabled: true,
  mustChangePassword: false,
  providerSettingsEnabled: true,
  mcpSettingsEnabled: true,
};
const config = {
  branding: {
    productName: 'Homeport',
    tagline: 'Your models, your house',
    logoDataUrl: null,
    faviconDataUrl: null,
    primaryColor: process.env.BRAND ?? '#4f46e5',
    primaryForegroundColor: '#ffffff',
  },
  setup: { required: false, claimRequired: false },
  sso: null,
  edition: 'community',
  limits: { artifactMaxUploadBytes: 1e8 },
};
const model = (id: string, displayName: string, tier: number, isDefault = false) => ({
  id,
  providerId: 'p1',
  providerModelId: id,
  displayName,
  contextWindow: 128000,
  maxOutputTokens: 8192,
  tier,
  enabled: true,
  isDefault,
  createdAt: now(),
});
const catalogue = {
  providers: [
    {
      id: 'p1',
      name: 'Local',
      baseUrl: 'http://x/v1',
      hasApiKey: true,
      headers: {},
      enabled: true,
      createdAt: now(),
      updatedAt: now(),
      models: [
        model('m1', 'Mistral Small 4', 1),
        model('m2', 'Qwen 4 Coder 32B', 2, true),
        model('m3', 'Llama 5 405B Instruct', 4),
      ],
    },
  ],
  canEdit: true,
  modelTiers: [
    { value: 1, label: 'Low' },
    { value: 2, label: 'Medium' },
    { value: 3, label: 'High' },
    { value: 4, label: 'Maximum' },
  ],
};

type M = {
  id: string;
  chatId: string;
  parentId: string | null;
  siblingIds: string[];
  role: 'user' | 'assistant';
  parts: any[];
  status: string;
  error?: any;
  modelId?: string;
  usage?: any;
  createdAt: string;
};
type C = {
  chat: any;
  all: Map<string, M>;
  active: string | null;
  inputs: any[];
  running: null | {
    assistantId: string;
    messageId: string;
    startedAt: string;
    frames: string[];
    followers: Set<ServerResponse>;
    stop: boolean;
  };
};
const chats = new Map<string, C>();
const seen = new Map<string, { body: string; answer: any; status: number }>();

const sample = `Here is a compact way to think about it.

## A small example

The function below **debounces** calls; note the \`AbortSignal\`:

\`\`\`ts
export function debounce<T extends unknown[]>(run: (...args: T) => void, wait: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (...args: T) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...args), wait); // the last call wins, and a very long comment that needs scrolling
  };
}
\`\`\`

### What matters

1. The timer is *shared* between calls.
2. Arguments of the **last** call win.
   - nested point one
   - nested point two with a [link](https://developer.mozilla.org/docs)
3. Nothing leaks.

| Approach | Latency | Memory |
|---|---:|:--|
| Debounce | 200 ms | constant |
| Throttle | 50 ms | constant |
| Queue | 0 ms | grows with the load of the system |

> A quote, to see how it sits in the column.

- [x] done
- [ ] to do

An image: ![A chart](https://example.org/chart.png), a file: [report.pdf](artifact://0192f0c1-7d3e-7abc-8def-0123456789ab), raw <b>html</b> &amp; a javascript [link](javascript:alert(1)).

Let me know if you want the *throttled* variant as well.`;

function seed() {
  const titles = [
    'Debounce in TypeScript',
    'Holiday in Lisbon',
    'Refactoring the billing module without downtime and with very long titles',
    'Bread hydration',
    'SQL window functions',
    'Letter to the landlord',
    'عنوان بالعربية',
    'Weekly plan',
  ];
  titles.forEach((title, index) => {
    const id = `c${index}`;
    const at = new Date(Date.now() - index * index * 20 * 3600_000).toISOString();
    const chat: C = {
      chat: {
        id,
        title,
        archived: false,
        projectId: null,
        modelPinned: false,
        modelId: null,
        mcpServerIds: null,
        contextStartMessageId: null,
        running: false,
        createdAt: at,
        updatedAt: at,
      },
      all: new Map(),
      active: null,
      inputs: [],
      running: null,
    };
    chats.set(id, chat);
    if (index === 0) {
      add(chat, {
        id: 'u-1',
        role: 'user',
        parts: [{ type: 'text', text: 'How do I debounce a function in TypeScript?' }],
        parentId: null,
      });
      add(chat, {
        id: 'a-1',
        role: 'assistant',
        parentId: 'u-1',
        modelId: 'm2',
        usage: { inputTokens: 1240, outputTokens: 386 },
        parts: [
          {
            type: 'reasoning',
            text: 'The user wants a debounce. I should keep it short.\n\nTypes matter.',
            state: 'done',
          },
          {
            type: 'dynamic-tool',
            toolName: 'search_files',
            toolCallId: 't1',
            state: 'output-available',
            input: { query: 'debounce' },
            output: { matches: ['src/a.ts:12'] },
          },
          {
            type: 'dynamic-tool',
            toolName: 'bash',
            toolCallId: 't2',
            state: 'output-error',
            input: { command: 'npm test' },
            errorText: 'exit code 1',
          },
          { type: 'text', text: sample, state: 'done' },
        ],
      });
      add(chat, {
        id: 'u-2',
        role: 'user',
        parts: [{ type: 'text', text: 'And with a maximum wait?\nPlease keep it short.' }],
        parentId: 'a-1',
      });
      add(chat, {
        id: 'a-2',
        role: 'assistant',
        parentId: 'u-2',
        modelId: 'm2',
        status: 'stopped',
        parts: [{ type: 'text', text: 'Add a second timer that is never cleared by', state: 'done' }],
      });
    }
    if (index === 1) {
      add(chat, {
        id: 'l-1',
        role: 'user',
        parts: [{ type: 'text', text: 'Plan three days in Lisbon.' }],
        parentId: null,
      });
      add(chat, {
        id: 'l-2',
        role: 'assistant',
        parentId: 'l-1',
        modelId: 'm1',
        status: 'failed',
        parts: [],
        error: { code: 'provider_error', message: 'The provider answered with status 503.' },
      });
    }
    if (index === 2)
      for (let n = 0; n < 120; n += 1)
        add(chat, {
          id: `x-${n}`,
          role: n % 2 ? 'assistant' : 'user',
          parts: [{ type: 'text', text: n % 2 ? sample : `Question number ${n}` }],
          parentId: n ? `x-${n - 1}` : null,
        });
  });
}
function add(c: C, m: Partial<M> & { id: string }) {
  const full = { chatId: c.chat.id, siblingIds: [], status: 'complete', createdAt: now(), ...m } as M;
  c.all.set(full.id, full);
  c.active = full.id;
  return full;
}
function branch(c: C): M[] {
  const list: M[] = [];
  for (let id = c.active; id !== null; ) {
    const m = c.all.get(id);
    if (!m) break;
    list.unshift({
      ...m,
      siblingIds: [...c.all.values()].filter((o) => o.parentId === m.parentId && o.role === m.role).map((o) => o.id),
    });
    id = m.parentId;
  }
  return list;
}
const textOf = (m: M | undefined) => m?.parts.find((p) => p.type === 'text')?.text ?? '';

function start(c: C, messageId: string, assistantId: string) {
  const assembler = createMessageAssembler();
  const startedAt = now();
  const running = {
    assistantId,
    messageId,
    startedAt,
    frames: [] as string[],
    followers: new Set<ServerResponse>(),
    stop: false,
  };
  c.running = running;
  c.chat.running = true;
  const m = add(c, {
    id: assistantId,
    role: 'assistant',
    parentId: messageId,
    parts: [],
    status: 'streaming',
    modelId: 'm2',
  });
  const emit = (frame: Frame) => {
    assembler.apply(frame);
    m.parts = assembler.parts;
    const text = `id: ${running.frames.length + 1}\ndata: ${JSON.stringify(frame)}\n\n`;
    running.frames.push(text);
    for (const f of running.followers) f.write(text);
  };
  const prompt = textOf(c.all.get(messageId));
  const end = (status: string) => {
    m.status = status;
    m.usage = { inputTokens: 812, outputTokens: running.frames.length };
    c.chat.running = false;
    c.chat.updatedAt = now();
    c.running = null;
    const next = c.inputs.shift();
    if (next) {
      const id = randomUUID();
      emit({ type: 'data-next', transient: true, data: { messageId: next.id, assistantId: id } });
      add(c, { id: next.id, role: 'user', parts: next.message.parts, parentId: assistantId });
      setTimeout(() => start(c, next.id, id), 50);
    }
    for (const f of running.followers) f.end('data: [DONE]\n\n');
  };
  emit({ type: 'start', messageId: assistantId, messageMetadata: { modelId: 'm2', createdAt: startedAt } });
  emit({ type: 'start-step' });
  const words = prompt.includes('bench')
    ? (`${sample}\n\n`.repeat(30).match(/.{1,4}/gs) ?? []).slice(0, 10_000)
    : ((prompt.includes('long') ? `${sample}\n\n`.repeat(8) : sample).match(/.{1,6}/gs) ?? []);
  const thoughts = 'Let me think about what is asked, then answer briefly.'.match(/.{1,5}/gs) ?? [];
  let step = 0;
  const tick = () => {
    if (running.stop) {
      emit({ type: 'text-end', id: '2' });
      emit({ type: 'abort' });
      return end('stopped');
    }
    if (prompt.includes('fail') && step > 60) {
      emit({ type: 'error', errorText: 'The provider closed the connection.' });
      m.error = { code: 'provider_error', message: 'The provider closed the connection.' };
      return end('failed');
    }
    if (step === 0) emit({ type: 'reasoning-start', id: '1' });
    if (step < thoughts.length) emit({ type: 'reasoning-delta', id: '1', delta: thoughts[step] ?? '' });
    else if (step === thoughts.length) {
      emit({ type: 'reasoning-end', id: '1' });
      emit({ type: 'tool-input-start', toolCallId: 't', toolName: 'search_files', dynamic: true });
      emit({ type: 'tool-input-delta', toolCallId: 't', inputTextDelta: '{"query": "debo' });
    } else if (step === thoughts.length + 10) {
      emit({
        type: 'tool-input-available',
        toolCallId: 't',
        toolName: 'search_files',
        input: { query: 'debounce' },
        dynamic: true,
      });
      emit({ type: 'tool-output-available', toolCallId: 't', output: { matches: [] }, dynamic: true });
      emit({ type: 'text-start', id: '2' });
    } else if (step > thoughts.length + 10) {
      const word = words[step - thoughts.length - 11];
      if (word === undefined) {
        emit({ type: 'text-end', id: '2' });
        emit({
          type: 'finish',
          finishReason: 'stop',
          messageMetadata: { usage: { inputTokens: 812, outputTokens: 402 }, status: 'complete' },
        });
        return end('complete');
      }
      emit({ type: 'text-delta', id: '2', delta: word });
    }
    step += 1;
    setTimeout(tick, Number(process.env.TICK ?? 15));
  };
  setTimeout(tick, 600);
}

const errors: Record<string, number> = { not_found: 404, input_conflict: 409, id_taken: 409, method_not_allowed: 405 };
const send = (res: ServerResponse, status: number, body: unknown) =>
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body));
const fail = (res: ServerResponse, code: string, message: string) =>
  send(res, errors[code] ?? 400, { error: { code, message, requestId: 'r1' } });

async function api(req: IncomingMessage, res: ServerResponse, url: URL) {
  let raw = '';
  for await (const chunk of req) raw += chunk;
  const body = raw ? JSON.parse(raw) : {};
  const route = `${req.method} ${url.pathname}`;
  if (route === 'GET /api/public-config') return send(res, 200, config);
  if (route === 'GET /api/me') return send(res, 200, { user });
  if (route === 'GET /api/providers')
    return send(res, 200, process.env.EMPTY ? { ...catalogue, providers: [] } : catalogue);
  if (route === 'POST /api/auth/sign-out') return send(res, 200, { success: true });
  if (route === 'GET /api/chats' && url.searchParams.has('id')) {
    const c = chats.get(url.searchParams.get('id') ?? '');
    if (!c) return fail(res, 'not_found', 'Conversation not found');
    const all = branch(c);
    const before = url.searchParams.get('before');
    const end = before ? all.findIndex((m) => m.id === before) : all.length;
    const from = Math.max(0, end - 50);
    const r = c.running;
    return send(res, 200, {
      chat: c.chat,
      messages: all.slice(from, end),
      nextBefore: from > 0 ? all[from]?.id : null,
      inputs: c.inputs,
      response: r && { assistantId: r.assistantId, messageId: r.messageId, startedAt: r.startedAt },
    });
  }
  if (route === 'GET /api/chats') {
    const archived = url.searchParams.get('archived') === '1';
    const q = url.searchParams.get('q')?.toLowerCase() ?? '';
    const list = [...chats.values()]
      .map((c) => c.chat)
      .filter((c) => c.archived === archived && c.title.toLowerCase().includes(q))
      .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt));
    return send(res, 200, { chats: list, nextCursor: null });
  }
  if (route === 'POST /api/chats') {
    if (chats.has(body.id)) return fail(res, 'id_taken', 'This id is in use');
    const chat = {
      id: body.id ?? randomUUID(),
      title: '',
      archived: false,
      projectId: null,
      modelPinned: false,
      modelId: null,
      mcpServerIds: null,
      contextStartMessageId: null,
      running: false,
      createdAt: now(),
      updatedAt: now(),
    };
    chats.set(chat.id, { chat, all: new Map(), active: null, inputs: [], running: null });
    return send(res, 201, { chat });
  }
  const c = chats.get(
    body.chatId ??
      body.id ??
      url.searchParams.get('chatId') ??
      url.searchParams.get('id') ??
      url.pathname.split('/')[3] ??
      '',
  );
  if (url.pathname.startsWith('/api/chat') && !c) return fail(res, 'not_found', 'Conversation not found');
  if (!c) return fail(res, 'not_found', 'Not found');
  if (route === 'PATCH /api/chats') {
    if (body.title) c.chat.title = body.title;
    if (body.archived !== undefined) c.chat.archived = body.archived;
    if (body.activeMessageId) {
      c.active = body.activeMessageId;
      for (;;) {
        const child = [...c.all.values()].findLast((m) => m.parentId === c.active);
        if (!child) break;
        c.active = child.id;
      }
    }
    return send(res, 200, { chat: c.chat, movedArtifacts: 0, artifactFolder: null });
  }
  if (route === 'DELETE /api/chats') return (chats.delete(c.chat.id), send(res, 200, { ok: true }));
  if (route === 'POST /api/chat/start' || route === 'POST /api/chat/turn-inputs') {
    const known = seen.get(body.message.id);
    if (known)
      return known.body === raw
        ? send(res, known.status, known.answer)
        : fail(res, 'input_conflict', 'This message id was used for other content');
    c.chat.title ||= body.message.parts[0].text.slice(0, 40);
    if (body.modelPinned !== undefined)
      Object.assign(c.chat, { modelPinned: body.modelPinned, modelId: body.modelId ?? null });
    c.chat.updatedAt = now();
    const input = {
      id: body.message.id,
      chatId: c.chat.id,
      state: 'queued',
      message: { ...body.message, role: 'user' },
      createdAt: now(),
    };
    const isQueued = c.running !== null;
    if (isQueued) c.inputs.push(input);
    else
      add(c, {
        id: body.message.id,
        role: 'user',
        parts: body.message.parts,
        parentId: body.parentId === undefined ? c.active : body.parentId,
      });
    const answer = route.endsWith('start') ? { messageId: body.message.id } : { input };
    seen.set(body.message.id, { body: raw, answer, status: 201 });
    return send(res, 201, answer);
  }
  if (route === 'DELETE /api/chat/turn-inputs') {
    c.inputs = c.inputs.filter((i) => i.id !== url.searchParams.get('id'));
    return send(res, 200, { ok: true, input: {} });
  }
  if (route === 'POST /api/chat') {
    if (c.running?.messageId === body.messageId)
      return send(res, 202, { admitted: true, assistantId: c.running?.assistantId });
    const messageId = body.messageId ?? c.all.get(c.active ?? '')?.parentId;
    const assistantId = randomUUID();
    if (!c.running) start(c, messageId, assistantId);
    return send(res, 202, { admitted: true, assistantId });
  }
  if (url.pathname.endsWith('/stop')) {
    if (c.running) setTimeout((r) => (r.stop = true), 300, c.running);
    return send(res, 200, { stopped: c.running !== null, assistantId: c.running?.assistantId ?? null });
  }
  if (url.pathname.endsWith('/stream')) {
    const r = c.running;
    if (!r) return res.writeHead(204).end();
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const after = Number(req.headers['last-event-id'] ?? 0);
    res.write(r.frames.slice(after).join(''));
    r.followers.add(res);
    req.on('close', () => r.followers.delete(res));
    return;
  }
  fail(res, 'not_found', 'Not found');
}

const types: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
seed();
createServer((req, res) => {
  const url = new URL(req.url ?? '/', 'http://x');
  if (url.pathname.startsWith('/api/'))
    return void api(req, res, url).catch((error) => (console.error(error), res.destroy()));
  const type = types[extname(url.pathname)];
  try {
    if (type) return void res.writeHead(200, { 'content-type': type }).end(readFileSync(join(out, url.pathname)));
  } catch {
    return void res.writeHead(404).end();
  }
  const nonce = randomBytes(16).toString('base64');
  const html = readFileSync(join(out, 'index.html'), 'utf8')
    .replaceAll('__CSP_NONCE__', nonce)
    .replace('"__PUBLIC_CONFIG__"', JSON.stringify(config).replaceAll('<', '\\u003c'));
  res.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data: https:; connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types default`,
  });
  res.end(html);
}).listen(Number(process.env.PORT ?? 4911), '127.0.0.1');

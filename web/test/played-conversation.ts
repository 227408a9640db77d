import type { ChatDetail, Message, QueuedInput } from '@homeport/contracts/chat/conversations';
import type { Frame } from '@homeport/contracts/chat/frames';
import { ConversationStore } from '../src/conversation/conversation-store.ts';

export const at = '2026-01-01T00:00:00.000Z';
const chat: ChatDetail['chat'] = {
  id: 'c',
  title: 'T',
  archived: false,
  projectId: null,
  modelPinned: false,
  modelId: null,
  mcpServerIds: null,
  contextStartMessageId: null,
  assistantId: null,
  web: null,
  autoCompaction: true,
  instructions: null,
  parameters: {},
  toolRules: null,
  temporary: false,
  running: false,
  waiting: false,
  lastStatus: null,
  createdAt: at,
  updatedAt: at,
};
export const user = (id: string): Message => ({
  id,
  chatId: 'c',
  parentId: null,
  siblingIds: [id],
  role: 'user',
  parts: [{ type: 'text', text: id }],
  status: 'complete',
  finishReason: null,
  finishDetail: null,
  createdAt: at,
});
export const detail = (change: Partial<ChatDetail> = {}): ChatDetail => ({
  chat,
  messages: [user('u1')],
  nextBefore: null,
  inputs: [],
  response: null,
  summaries: [],
  plan: null,
  ...change,
});
export const running = (assistantId: string, messageId: string) =>
  ({ assistantId, messageId, startedAt: at, kind: 'answer' }) as const;
export const queued = (id: string): QueuedInput => ({
  id,
  chatId: 'c',
  state: 'queued',
  message: { id, role: 'user', parts: [{ type: 'text', text: id }] },
  createdAt: at,
});

export const answer = (id: string, text: string): Frame[] => [
  { type: 'start', messageId: id },
  { type: 'start-step' },
  { type: 'text-start', id: '1' },
  ...text.split(/(?<= )/).map((delta): Frame => ({ type: 'text-delta', id: '1', delta })),
  { type: 'text-end', id: '1' },
  { type: 'finish-step' },
  { type: 'finish', finishReason: 'stop' },
];

type Connection = {
  after: string | undefined;
  send: (frames: Frame[], from?: number) => void;
  end: () => void;
  break: () => void;
};

/** A conversation's server of which every connection and every load is played by the test. */
export function playConversation(loads: (ChatDetail | Error)[]) {
  const connections: Connection[] = [];
  const waiting: ((connection: Connection) => void)[] = [];
  const none = new Set<number>();
  const encoder = new TextEncoder();
  let opened = 0;
  const activity = { count: 0 };
  const turns: AbortController[] = [];
  const store = new ConversationStore('c', {
    network: undefined,
    pause: async () => {},
    turns: (_signal, work) => {
      const turn = new AbortController();
      turns.push(turn);
      return work(turn.signal);
    },
    onActivity: () => {
      activity.count += 1;
    },
    stop: async () => {},
    load: async () => {
      const next = loads.length > 1 ? loads.shift() : loads[0];
      if (next instanceof Error) throw next;
      if (!next) throw new Error('the test gives no load');
      return next;
    },
    open: async (_, after, signal) => {
      opened += 1;
      if (none.has(opened)) return null;
      return new ReadableStream<Uint8Array>({
        start(controller) {
          signal.addEventListener('abort', () => controller.error(signal.reason));
          const connection: Connection = {
            after,
            send: (frames, from = 0) => {
              const text = frames.map((frame, index) => `id: ${from + index + 1}\ndata: ${JSON.stringify(frame)}\n\n`);
              controller.enqueue(encoder.encode(text.join('')));
            },
            end: () => {
              controller.enqueue(encoder.encode('data: [DONE]\n\n'));
              controller.close();
            },
            break: () => controller.error(new TypeError('network')),
          };
          connections.push(connection);
          waiting.shift()?.(connection);
        },
      });
    },
  });
  const connected = () => new Promise<Connection>((resolve) => waiting.push(resolve));
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!holds()) return;
        stop();
        resolve();
      };
      const stop = store.subscribe(check);
      check();
    });
  const text = () => {
    const part = store
      .getView()
      .messages.at(-1)
      ?.parts.find((each) => each.type === 'text');
    return part?.type === 'text' ? part.text : undefined;
  };
  return { store, connections, connected, until, text, none, activity, turns };
}

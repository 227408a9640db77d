import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import type { Call } from './call.ts';
import { ask, broken, send, unexpected } from './control-plane.ts';
import { usage } from './failure.ts';
import { humanTime, print, printable, printableLines, table } from './output.ts';
import { currentChat } from './scope.ts';

const path = '/api/internal/conversations';
const pageMax = 500;
const usualLimit = 50;

/** `homeport conversations [list | <id> | current]` */
export async function conversations(call: Call): Promise<void> {
  const [id = 'list'] = call.operands;
  if (id === 'list') return list(call);
  const { flags, config } = call;
  const turn = flags.number('turn');
  const isFull = flags.isSet('full');
  if (turn !== undefined && isFull) throw usage('Give --turn or --full, not both');
  const query = {
    chatId: id === 'current' ? currentChat(config) : id,
    mode: isFull ? 'full' : turn === undefined ? 'overview' : 'turn',
    turn: turn === undefined ? undefined : String(turn),
    format: flags.isSet('json') ? 'json' : 'markdown',
  };
  await copyText(await send(config, { path, query }, call.signal), !flags.isSet('json'));
}

type Listed = { id: string; title: string; archived: boolean; running: boolean; updatedAt: string };

async function list({ config, flags, signal }: Call): Promise<void> {
  const isJson = flags.isSet('json');
  let left = flags.number('limit') ?? (flags.isSet('all') ? Number.POSITIVE_INFINITY : usualLimit);
  let cursor: string | undefined;
  let count = 0;
  do {
    const query = { format: 'json', limit: String(Math.min(left, pageMax)), cursor };
    const page = readPage(await ask(config, { path, query }, signal));
    if (isJson) {
      if (count === 0) await print('{"chats":[');
      await print(page.chats.map((one, index) => `${count + index === 0 ? '' : ','}\n${JSON.stringify(one)}`).join(''));
    } else if (page.chats.length > 0) await print(tableOf(page.chats, count === 0));
    count += page.chats.length;
    left -= page.chats.length;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && left > 0);
  if (isJson) await print(`\n],"nextCursor":${JSON.stringify(cursor ?? null)}}\n`);
  else if (count === 0) process.stderr.write('There are no conversations yet.\n');
  else if (cursor !== undefined) process.stderr.write('There are more. Use --limit <number> or --all to see them.\n');
}

function tableOf(chats: readonly Listed[], hasTitles: boolean): string {
  const columns = [{ title: 'UPDATED' }, { title: 'ID' }, { title: 'TITLE' }];
  const rows = chats.map((chat) => {
    const state = `${chat.archived ? ' (archived)' : ''}${chat.running ? ' (running)' : ''}`;
    return [humanTime(chat.updatedAt), printable(chat.id), printable(chat.title) + state];
  });
  return table(columns, rows, hasTitles);
}

function readPage(value: unknown): { chats: Listed[]; nextCursor: string | null } {
  const page = value as { chats?: unknown; nextCursor?: unknown } | null;
  const isSound =
    Array.isArray(page?.chats) &&
    page.chats.every(
      (chat) => typeof chat?.id === 'string' && typeof chat.title === 'string' && typeof chat.updatedAt === 'string',
    ) &&
    (page.nextCursor === null || typeof page.nextCursor === 'string');
  if (!isSound) throw unexpected();
  return page as { chats: Listed[]; nextCursor: string | null };
}

/** Streams a response to stdout; on a terminal, control sequences are removed. */
async function copyText(answer: IncomingMessage, isForPeople: boolean): Promise<void> {
  const decoder = new StringDecoder('utf8');
  const shown = isForPeople && process.stdout.isTTY ? printableLines : (text: string) => text;
  const chunks = answer[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await chunks.next().catch((error: unknown) => {
      throw broken(error);
    });
    if (done) break;
    await print(shown(decoder.write(value)));
  }
  await print(shown(decoder.end()));
}

import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, interleave, readCpu, spentSince } from './bench.ts';
import type { Product } from './product.ts';
import { median } from './statistics.ts';
import type { Subject } from './subjects.ts';

const chatsPerRound = 40;
const reply = { tokens: 100, perSecond: 100 };

/** A kind of conversation whose next turn is measured; it already has `seeded` messages. */
type Kind = { name: string; seeded: number; modelId: string; chats: string[]; cpu: number[]; prompts: Set<number> };

/**
 * Server CPU of a turn. Turn 100 sends the whole conversation along. For 5,000 messages the model's window is so small
 * that only the new message fits, so that its prompt equals the first turn's; the provider's log of requests verifies
 * that.
 */
export async function measureTurns(bench: Bench): Promise<void> {
  const product = await bench.product();
  const subject = await bench.productSubject();
  const large = await product.addModel(1_000_000);
  const small = await product.addModel(2_000);
  const kinds = [
    kind('turn 1', 0, large),
    kind('turn 100', 198, large),
    kind('turn 1, small window', 0, small),
    kind('turn after 5,000 messages', 5_000, small),
  ];
  for (const each of kinds) await seed(product, each);
  for (const each of kinds) await takeTurns(bench, product, subject, each);
  for (const each of kinds) each.cpu.length = 0;
  await interleave(bench.quick ? 2 : 5, kinds, async (each) => {
    await takeTurns(bench, product, subject, each);
  });
  const [first, hundredth, firstSmall, longest] = kinds;
  if (first && hundredth) addRow(bench, 'server CPU of turn 100', hundredth, first);
  if (firstSmall && longest) addRow(bench, 'server CPU of a turn after 5,000 messages', longest, firstSmall);
}

function kind(name: string, seeded: number, modelId: string): Kind {
  return { name, seeded, modelId, chats: [], cpu: [], prompts: new Set() };
}

function addRow(bench: Bench, what: string, measured: Kind, base: Kind): void {
  const prompts = `(messages in the prompt: ${[...measured.prompts].join('/')} and ${[...base.prompts].join('/')})`;
  bench.report.add({
    part: 'turns',
    what,
    measured: median(measured.cpu),
    unit: 'ms CPU',
    note: prompts,
    compared: { name: base.name.replace(', small window', ''), value: median(base.cpu) },
    judge: 'ratio',
    limit: { at: 'most', value: 1.15 },
  });
}

async function takeTurns(bench: Bench, product: Product, subject: Subject, each: Kind): Promise<void> {
  await reset(product, each);
  await delay(300);
  const provider = await bench.provider();
  const work = async () => {
    await Promise.all(
      each.chats.map(async (chatId, index) => {
        await delay(index * 25);
        const stream = await subject.open(reply, undefined, { chatId, modelId: each.modelId });
        await stream.done;
        each.prompts.add((await provider.asked(stream.id)).messages);
      }),
    );
    // A response's end is written after its last token was sent.
    await delay(300);
  };
  const before = readCpu(product);
  await bench.profiled(each.name, product, work);
  each.cpu.push((spentSince(product, before).server * 1000) / each.chats.length);
}

/** Conversations with messages as the product stores them; the last ones are too long for the small window. */
async function seed(product: Product, each: Kind): Promise<void> {
  each.chats = await product.createChats(chatsPerRound);
  if (each.seeded === 0) return;
  const client = await product.openDatabase();
  await client.query(
    `insert into messages (id, chat_id, parent_id, role, parts, prompt, prompt_tokens, status, usage, created_at)
     select c || '-seed-' || n, c, case when n > 1 then c || '-seed-' || (n - 1) end, role,
       '[{"type":"text","text":"' || said || '"}]', '{"role":"' || role || '","content":"' || said || '"}',
       length(said) / 3.6 + 12, 'complete', case when role = 'assistant' then '{"inputTokens":10,"outputTokens":10}'::jsonb end,
       now() - (10000 - n) * interval '1 second'
     from unnest($1::text[]) as c, generate_series(1, $2::int) as n,
       lateral (select case when n % 2 = 1 then 'user' else 'assistant' end as role,
         repeat('word ', case when $2 > 1000 and n > $2 - 10 then 1000 when n % 2 = 1 then 25 else 120 end) as said) as made`,
    [each.chats, each.seeded],
  );
  await client.query('analyze messages');
  await client.end();
}

/** Removes the turns of the previous round, so that every round measures the same turn. */
async function reset(product: Product, each: Kind): Promise<void> {
  if (each.seeded === 0) {
    each.chats = await product.createChats(chatsPerRound);
    return;
  }
  const client = await product.openDatabase();
  for (const chatId of each.chats) {
    await client.query('update chats set active_message_id = $2 where id = $1', [
      chatId,
      `${chatId}-seed-${each.seeded}`,
    ]);
  }
  await client.query('delete from responses where chat_id = any($1)', [each.chats]);
  await client.query('delete from inputs where chat_id = any($1)', [each.chats]);
  await client.query(`delete from messages where chat_id = any($1) and id not like '%-seed-%'`, [each.chats]);
  await client.end();
}

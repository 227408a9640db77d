import lighthouse from 'lighthouse';
import { freePort } from '../product.ts';
import type { Bench } from './bench.ts';
import { launchChromium, urlOf } from './chromium.ts';
import { answered } from './page-thread.ts';
import { median } from './statistics.ts';

const categories = ['performance', 'accessibility', 'best-practices'] as const;

/** Lighthouse as it comes (a phone on a slow network), on the sign-in page and on a conversation with an answer. */
export async function measureLighthouse(bench: Bench): Promise<void> {
  const product = await bench.markdownProduct();
  const [chatId = ''] = await product.createChats(1);
  const id = crypto.randomUUID();
  const message = { id, parts: [{ type: 'text', text: 'Tell me about tides.' }] };
  await product.call('POST', '/api/chat/start', {
    chatId,
    message,
    modelId: await bench.markdownModel('markdown-400@4000'),
  });
  await product.call('POST', '/api/chat', { chatId, messageId: id, detach: true });
  await answered(product, chatId);
  const port = await freePort();
  const browser = await launchChromium({ port });
  try {
    for (const [name, path, headers] of [
      ['sign-in', '/sign-in', {}],
      ['chat', `/c/${chatId}`, { Cookie: product.cookie }],
    ] as const) {
      const runs: Scores[] = [];
      for (let round = 0; round < bench.rounds; round++) runs.push(await score(urlOf(product, path), port, headers));
      for (const category of categories) {
        const scores = runs.map((run) => run[category].score);
        const failed = runs.at(-1)?.[category].failed ?? [];
        bench.report.add({
          part: 'lighthouse',
          what: `${name}: ${category}`,
          measured: median(scores),
          unit: '',
          judge: 'value',
          limit: { at: 'least', value: 95 },
          note: failed.length === 0 ? '' : `(${failed.join(', ')})`,
        });
      }
    }
  } finally {
    await browser.close();
  }
}

type Scores = Record<(typeof categories)[number], { score: number; failed: string[] }>;

/** Scores of 0 to 100, each with the audits that took points away. */
async function score(url: string, port: number, extraHeaders: Record<string, string>): Promise<Scores> {
  const result = await lighthouse(url, {
    port,
    output: 'json',
    logLevel: 'error',
    onlyCategories: [...categories],
    extraHeaders,
    disableStorageReset: true,
  });
  if (result === undefined) throw new Error('Lighthouse gave no result');
  const { lhr } = result;
  const scoreOf = (category: (typeof categories)[number]) => {
    const found = lhr.categories[category];
    const failed = (found?.auditRefs ?? [])
      .filter(({ weight }) => weight > 0)
      .map(({ id }) => lhr.audits[id])
      .filter((audit) => typeof audit?.score === 'number' && audit.score < 0.95)
      .map((audit) => `${audit?.id} ${audit?.displayValue ?? audit?.score}${nodesOf(audit?.details)}`);
    return { score: 100 * (found?.score ?? Number.NaN), failed };
  };
  return {
    performance: scoreOf('performance'),
    accessibility: scoreOf('accessibility'),
    'best-practices': scoreOf('best-practices'),
  };
}

/** Elements of the page on which an audit failed. */
function nodesOf(details: unknown): string {
  const selectors = [...JSON.stringify(details ?? null).matchAll(/"selector":"([^"]+)"/g)].map(([, found]) => found);
  return selectors.length === 0 ? '' : ` at ${[...new Set(selectors)].slice(0, 3).join(' | ')}`;
}

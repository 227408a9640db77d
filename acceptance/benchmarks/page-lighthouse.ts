import lighthouse from 'lighthouse';
import { freePort } from '../product.ts';
import type { Bench } from './bench.ts';
import { launchChromium, urlOf } from './chromium.ts';

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
    modelId: await bench.markdownModel('markdown-400@0'),
  });
  await product.call('POST', '/api/chat', { chatId, messageId: id, detach: true });
  const port = await freePort();
  const browser = await launchChromium({ port });
  try {
    for (const [name, path, headers] of [
      ['sign-in', '/sign-in', {}],
      ['chat', `/c/${chatId}`, { Cookie: product.cookie }],
    ] as const) {
      const result = await lighthouse(urlOf(product, path), {
        ...{ port, output: 'json', logLevel: 'error', onlyCategories: [...categories], extraHeaders: headers },
        disableStorageReset: true,
      });
      for (const category of categories) {
        const found = result?.lhr.categories[category];
        const failed = (found?.auditRefs ?? [])
          .map(({ id: audit, weight }) => ({ audit, weight, score: result?.lhr.audits[audit]?.score }))
          .filter(({ weight, score }) => weight > 0 && typeof score === 'number' && score < 0.9)
          .map(({ audit, score }) => `${audit} ${score}`);
        bench.report.add({
          ...{
            part: 'lighthouse',
            what: `${name}: ${category}`,
            measured: 100 * (found?.score ?? Number.NaN),
            unit: '',
          },
          ...{ judge: 'value', limit: { at: 'least', value: 95 } },
          note: failed.length === 0 ? '' : `(${failed.join(', ')})`,
        });
      }
    }
  } finally {
    await browser.close();
  }
}

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from '@playwright/test';
import config from '../../playwright.config.ts';
import { type Product, scratchFolder } from '../servers/product.ts';

const launchOptions = config.use?.launchOptions ?? {};
/** The browser that people have; the tests take a lighter one. */
const wholeChromium = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

/** The system's Chromium on both cores, as for a person; this process itself is pinned to one. */
export function launchChromium(extra: { port?: number } = {}): Promise<Browser> {
  const starter = join(scratchFolder(), 'chromium');
  writeFileSync(starter, `#!/bin/sh\nexec taskset -c 0,1 ${wholeChromium} "$@"\n`);
  chmodSync(starter, 0o755);
  const args = [...(launchOptions.args ?? [])];
  if (extra.port !== undefined) args.push(`--remote-debugging-port=${extra.port}`);
  return chromium.launch({ ...launchOptions, executablePath: starter, args });
}

export type View = { width: number; height: number };
const desktop: View = { width: 1280, height: 800 };
export const phone: View = { width: 390, height: 844 };

/** A new profile, signed in, with probes in every page unless they would distort the measurement. */
export async function signedIn(
  browser: Browser,
  product: Product,
  { view = desktop, isProbed = true }: { view?: View; isProbed?: boolean } = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: view });
  const [name = '', value = ''] = product.cookie.split('=', 2);
  await context.addCookies([{ name, value, url: urlOf(product) }]);
  if (isProbed) await context.addInitScript({ content: probe });
  return context;
}

export const urlOf = (product: Product, path = ''): string => `http://127.0.0.1:${product.port}${path}`;

/** Measurements of the probe in a page since `resetProbe`. Times in milliseconds. */
export type Seen = {
  frames: number;
  /** Gaps of more than 33 ms between animation frames. */
  lateFrames: number;
  longestTask: number;
  /** Sum of the layout shifts that no input caused; not reset. */
  layoutShift: number;
  /** The slowest interaction, as the Event Timing API reports it. */
  slowestInteraction: number;
  /** When the message field became usable, counted from the navigation. */
  usableAt: number;
};

/** Runs in the page, before its scripts. */
const probe = `
  const seen = { frames: 0, lateFrames: 0, longestTask: 0, layoutShift: 0, slowestInteraction: 0, usableAt: 0 };
  window.benchProbe = seen;
  let last = performance.now();
  const frame = (now) => {
    seen.frames += 1;
    if (now - last > 33.4) seen.lateFrames += 1;
    last = now;
    if (seen.usableAt === 0 && document.querySelector('main textarea:enabled') !== null) seen.usableAt = performance.now();
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const observe = (type, onEntry, more = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(onEntry)).observe({ type, buffered: true, ...more });
  observe('longtask', ({ duration }) => { seen.longestTask = Math.max(seen.longestTask, duration); });
  observe('layout-shift', ({ value, hadRecentInput }) => { if (!hadRecentInput) seen.layoutShift += value; });
  observe('event', ({ duration }) => { seen.slowestInteraction = Math.max(seen.slowestInteraction, duration); },
    { durationThreshold: 16 });
`;

export async function resetProbe(page: Page): Promise<void> {
  await page.evaluate(
    'void Object.assign(benchProbe, { frames: 0, lateFrames: 0, longestTask: 0, slowestInteraction: 0 })',
  );
}

export const readProbe = (page: Page): Promise<Seen> => page.evaluate<Seen>('({ ...benchProbe })');

/** CPU of the page's main thread by thread ticks, in milliseconds since `start`. */
export class PageCpu {
  readonly #session: CDPSession;
  #before: { script: number; task: number } = { script: 0, task: 0 };

  private constructor(session: CDPSession) {
    this.#session = session;
  }

  static async of(page: Page): Promise<PageCpu> {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    return new PageCpu(session);
  }

  async throttle(rate: number): Promise<void> {
    await this.#session.send('Emulation.setCPUThrottlingRate', { rate });
  }

  async limitNetwork(megabits: number, latency: number): Promise<void> {
    const throughput = (megabits * 1_000_000) / 8;
    await this.#session.send('Network.enable');
    await this.#session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency,
      downloadThroughput: throughput,
      uploadThroughput: throughput,
    });
  }

  async start(): Promise<void> {
    this.#before = await this.#read();
  }

  async spent(): Promise<{ script: number; task: number }> {
    const now = await this.#read();
    return { script: now.script - this.#before.script, task: now.task - this.#before.task };
  }

  async #read(): Promise<{ script: number; task: number }> {
    const { metrics } = await this.#session.send('Performance.getMetrics');
    const value = (name: string) => 1000 * (metrics.find((metric) => metric.name === name)?.value ?? Number.NaN);
    return { script: value('ScriptDuration'), task: value('TaskDuration') };
  }
}

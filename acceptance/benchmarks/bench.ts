import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { plainSubject, productSubject, type Subject } from './load/subjects.ts';
import type { Report } from './report.ts';
import { type CpuProfile, Inspector, summarise } from './servers/inspector.ts';
import { cores, cpuSeconds, familyCpuSeconds, type Pinned, startPinned } from './servers/processes.ts';
import { type Product, startProduct } from './servers/product.ts';
import { type Provider, startProvider } from './servers/provider-process.ts';

/** How much the part `backup` puts into its installation. */
type Sizes = { messages: number; filesMib: number };

const longAnswer = 'markdown-10000@500';

/** Servers and settings shared by the parts of a benchmark run, started on first use. */
export class Bench {
  readonly quick: boolean;
  readonly report: Report;
  readonly profile: boolean;
  /** The build to be measured. */
  readonly dist: string;
  readonly sizes: Sizes;
  readonly #running: { stop(): Promise<void> }[] = [];
  #provider: Promise<Provider> | undefined;
  #product: Promise<Product> | undefined;
  #markdown: Promise<{ product: Product; addModel: (name: string) => Promise<string> }> | undefined;
  #passThrough: Promise<Subject> | undefined;
  #chats: string[] = [];

  constructor(options: { quick: boolean; profile: boolean; dist: string; report: Report; sizes: Sizes }) {
    this.quick = options.quick;
    this.profile = options.profile;
    this.dist = options.dist;
    this.report = options.report;
    this.sizes = options.sizes;
  }

  get rounds(): number {
    return this.quick ? 1 : 3;
  }

  provider(): Promise<Provider> {
    this.#provider ??= startProvider().then((provider) => this.#keep(provider));
    return this.#provider;
  }

  product(): Promise<Product> {
    this.#product ??= this.freshProduct();
    return this.#product;
  }

  /** A product for one part alone, on its own database. */
  async freshProduct(env: Record<string, string> = {}): Promise<Product> {
    const { port } = await this.provider();
    const inspected: Record<string, string> = this.profile ? { NODE_OPTIONS: '--inspect-port=127.0.0.1:0' } : {};
    return this.#keep(await startProduct({ dist: this.dist, providerPort: port, env: { ...inspected, ...env } }));
  }

  /** A product whose default model writes long Markdown, for the parts that measure the page. */
  markdownProduct(): Promise<Product> {
    this.#markdown ??= this.#startMarkdown();
    return this.#markdown.then(({ product }) => product);
  }

  /** Another model of that product: `markdown-<tokens>@<per second>`. */
  async markdownModel(name: string): Promise<string> {
    this.#markdown ??= this.#startMarkdown();
    return (await this.#markdown).addModel(name);
  }

  async #startMarkdown(): Promise<{ product: Product; addModel: (name: string) => Promise<string> }> {
    const file = join(import.meta.dirname, 'servers/markdown-provider.ts');
    const launched = this.#keep(startPinned(cores.load, [file]));
    const [, listening] = await launched.waitForOutput(/listening on (\d+)/);
    const options = { dist: this.dist, providerPort: Number(listening), modelName: longAnswer };
    const product = this.#keep(await startProduct(options));
    const list = (await product.call('GET', '/api/providers')) as { providers: { id: string }[] };
    const providerId = list.providers[0]?.id ?? '';
    const fields = { displayName: 'Markdown', contextWindow: 1_000_000, maxOutputTokens: 20_000, tier: 1 };
    return {
      product,
      async addModel(providerModelId) {
        const made = await product.call('POST', '/api/models', { ...fields, providerId, providerModelId });
        return (made as { model: { id: string } }).model.id;
      },
    };
  }

  async productSubject(product?: Product): Promise<Subject> {
    if (product !== undefined) return productSubject(product, async () => this.#takeChat(product));
    const shared = await this.product();
    return productSubject(shared, () => this.#takeChat(shared));
  }

  passThrough(): Promise<Subject> {
    this.#passThrough ??= this.freshPassThrough().then(({ subject }) => subject);
    return this.#passThrough;
  }

  /** P in a process for one part alone. */
  async freshPassThrough(env: Record<string, string> = {}): Promise<{ subject: Subject; process: Pinned }> {
    const { port } = await this.provider();
    const file = join(import.meta.dirname, 'servers/pass-through.ts');
    const launched = this.#keep(startPinned(cores.subject, [file, '127.0.0.1', String(port)], { env }));
    const [, listening] = await launched.waitForOutput(/listening on (\d+)/);
    return { subject: plainSubject('P', launched.pid, Number(listening)), process: launched };
  }

  async minimalApp(product: Product): Promise<{ pid: number; port: number }> {
    const file = join(import.meta.dirname, 'servers/minimal-app.ts');
    const launched = this.#keep(startPinned(cores.subject, [file, product.socketDir]));
    const [, listening] = await launched.waitForOutput(/listening on (\d+)/);
    return { pid: launched.pid, port: Number(listening) };
  }

  /** Creates conversations now, so that this is not measured later. */
  async prepareChats(product: Product, count: number): Promise<void> {
    this.#chats.push(...(await product.createChats(count)));
  }

  async #takeChat(product: Product): Promise<string> {
    const ready = this.#chats.pop();
    if (ready !== undefined) return ready;
    const [made = ''] = await product.createChats(1);
    return made;
  }

  /** Conversations of a stopped product are useless. */
  forgetChats(): void {
    this.#chats = [];
  }

  /** Runs `work`; with `--profile`, prints where the product spent its time. */
  async profiled<T>(name: string, product: Product, work: () => Promise<T>): Promise<T> {
    if (!this.profile) return work();
    const inspector = await Inspector.attach(product.process);
    await inspector.startProfile();
    const result = await work();
    const profile: CpuProfile = await inspector.stopProfile();
    console.log(`\nself time of the product, ${name}:\n${summarise(profile)}\n`);
    return result;
  }

  #keep<T extends { stop(): Promise<void> }>(started: T): T {
    this.#running.push(started);
    return started;
  }

  async stop(): Promise<void> {
    for (const each of this.#running.reverse()) await each.stop().catch(() => undefined);
  }
}

/** CPU seconds so far: the server, and the database's processes when it has one. */
export type Cpu = { server: number; database: number };

export function readCpu(subject: { pid: number; databasePid?: number }): Cpu {
  const database = subject.databasePid === undefined ? 0 : familyCpuSeconds(subject.databasePid);
  return { server: cpuSeconds(subject.pid), database };
}

export function spentSince(subject: { pid: number; databasePid?: number }, before: Cpu): Cpu {
  const now = readCpu(subject);
  return { server: now.server - before.server, database: now.database - before.database };
}

/** The subjects in turn, reversed in every second round, so that neither always comes first. */
export async function interleave<T>(
  rounds: number,
  subjects: readonly T[],
  work: (subject: T, round: number) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const subject of round % 2 === 0 ? subjects : [...subjects].reverse()) {
      await work(subject, round);
      // The last group write, and whatever else follows, must not count for the next subject.
      await delay(300);
    }
  }
}

import { join } from 'node:path';
import { cores, startPinned } from './processes.ts';
import type { ProviderNews } from './provider.ts';

type Asked = Extract<ProviderNews, { kind: 'asked' }>;

/** The scripted provider in a separate process, on the load generator's core. */
export type Provider = {
  port: number;
  /** Facts about the request with this id; resolves when the request arrives. */
  asked(id: string): Promise<Asked>;
  /** When the request with this id was aborted, in milliseconds of the monotonic clock. */
  aborted(id: string): Promise<number>;
  /** Ends all answers now, properly. */
  finishAll(): void;
  stop(): Promise<void>;
};

export async function startProvider(): Promise<Provider> {
  const launched = startPinned(cores.load, [join(import.meta.dirname, 'provider.ts')], { ipc: true });
  const ready = Promise.withResolvers<number>();
  const asked = new Arrivals<Asked>();
  const aborted = new Arrivals<number>();
  launched.child.on('message', (message) => {
    const news = parseNews(message);
    if (news.kind === 'ready') ready.resolve(news.port);
    else if (news.kind === 'asked') asked.arrive(news.id, news);
    else aborted.arrive(news.id, news.at);
  });
  launched.child.once('exit', () => ready.reject(new Error(`The provider ended:\n${launched.output()}`)));
  return {
    port: await ready.promise,
    asked: (id) => asked.wait(id),
    aborted: (id) => aborted.wait(id),
    finishAll: () => void launched.child.send('finish-all'),
    stop: () => launched.stop(),
  };
}

/** Values by id, delivered to waiters before or after their arrival. */
class Arrivals<T> {
  readonly #slots = new Map<string, PromiseWithResolvers<T>>();

  arrive(id: string, value: T): void {
    this.#slot(id).resolve(value);
  }

  wait(id: string): Promise<T> {
    const patience = new Promise<never>((_resolve, reject) => {
      setTimeout(() => reject(new Error(`The provider heard nothing of ${id}`)), 30_000).unref();
    });
    return Promise.race([this.#slot(id).promise, patience]);
  }

  #slot(id: string): PromiseWithResolvers<T> {
    let slot = this.#slots.get(id);
    if (slot === undefined) {
      slot = Promise.withResolvers<T>();
      this.#slots.set(id, slot);
    }
    return slot;
  }
}

/** Our own process sends no other messages. */
function parseNews(message: unknown): ProviderNews {
  return message as ProviderNews;
}

import type { Agent, Dispatcher } from 'undici';
import type { Guard } from './guard.ts';

/** Symbols under which Node's fetch, and that of a newer undici, look up their dispatcher. */
const places = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];

/** The guard under the built-in fetch. */
export type BuiltInFetch = { install(): void; close(): Promise<void> };

/**
 * None of our code calls the built-in fetch, but a library may. The client behind it is loaded at the first call,
 * usually never, and then handles that call and all others.
 */
export function guardBuiltInFetch(guard: Guard): BuiltInFetch {
  let made: Promise<Agent> | undefined;
  const make = async (): Promise<Agent> => {
    const { Agent, setGlobalDispatcher } = await import('undici');
    const agent = new Agent({
      allowH2: false,
      maxResponseSize: 64 * 1024 * 1024,
      connect: ({ protocol, hostname, port }, callback) => {
        const secure = protocol === 'https:';
        guard.openSocket(
          { secure, hostname, port: port === '' ? (secure ? 443 : 80) : Number(port) },
          (error, socket) => {
            if (socket === null) callback(error ?? new Error('no connection'), null);
            else callback(null, socket);
          },
        );
      },
    });
    setGlobalDispatcher(agent);
    return agent;
  };
  return {
    install() {
      made = undefined;
      for (const place of places) {
        const dispatch: Dispatcher['dispatch'] = (options, handler) => {
          made ??= make();
          void made.then(() => {
            const successor: Dispatcher = Reflect.get(globalThis, place);
            successor.dispatch(options, handler);
          });
          return true;
        };
        Object.defineProperty(globalThis, place, { value: { dispatch }, writable: true });
      }
    },
    async close() {
      await (await made)?.destroy();
    },
  };
}

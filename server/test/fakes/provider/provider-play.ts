import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FakeKind } from './provider-kinds.ts';
import {
  type FakeChatBody,
  type FakeScript,
  type FakeStep,
  promptTokens,
  wordChunk,
  wordEvent,
} from './provider-scripts.ts';
import { faultText, wholeText } from './provider-shapes.ts';
import { plainly, type Speaker } from './provider-speakers.ts';

/** How the fake provider plays its scripts. Free-standing: Node built-ins only. */

/** How one request is answered. */
export type Manner = { kind: FakeKind; body: FakeChatBody; speak: Speaker; retryAfter?: string };

export async function play(response: ServerResponse, script: FakeScript, gate: Gate, given: Manner): Promise<void> {
  const { 'retry-after': retryAfter, ...headers } = { 'retry-after': undefined, ...script.headers };
  // Google has it in the body.
  const retryHeader = given.kind === 'gemini' || retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  const manner: Manner = given.kind === 'gemini' ? { ...given, retryAfter } : given;
  if (script.head !== false) {
    response.writeHead(script.status ?? 200, { 'content-type': 'text/event-stream', ...headers, ...retryHeader });
    response.flushHeaders();
  }
  for (const step of script.steps) {
    await gate.passed();
    if (response.destroyed) return;
    await playStep(response, step, gate, manner);
  }
  response.end();
}

async function playStep(response: ServerResponse, step: FakeStep, gate: Gate, manner: Manner): Promise<void> {
  const { kind, speak } = manner;
  if ('event' in step) {
    await write(response, speak(step.event));
  } else if ('torn' in step) {
    // Half a pair is escaped by JSON, as real servers do.
    const bytes = Buffer.from(speak(step.torn));
    const within = bytes.findIndex((byte) => byte >= 0x80) + 1;
    const at = within > 0 ? within : bytes.length >> 1;
    await write(response, bytes.subarray(0, at));
    await delay(response, 2);
    await write(response, bytes.subarray(at));
  } else if ('raw' in step) {
    await write(response, step.raw);
  } else if ('fault' in step) {
    await write(response, faultText(kind, step.fault.status, step.fault.text, manner.retryAfter));
  } else if ('whole' in step) {
    await write(response, wholeText(kind, step.whole, promptTokens(manner.body)));
  } else if ('words' in step) {
    await playWords(response, step, gate, speak);
  } else if ('wait' in step) {
    await delay(response, step.wait);
  } else if ('hold' in step) {
    gate.hold();
    await gate.passed();
  } else if ('pause' in step) {
    await Promise.race([gate.nextRelease(), once(response, 'close')]);
  } else if ('drop' in step) {
    droppedByScript.add(response);
    // Written bytes still arrive; the chunked body lacks its end.
    response.socket?.destroySoon();
    await once(response, 'close');
  } else {
    await once(response, 'close');
  }
}

async function playWords(
  response: ServerResponse,
  step: { words: number; rate: number; stamp?: boolean },
  gate: Gate,
  speak: Speaker,
): Promise<void> {
  const began = performance.now();
  for (let index = 0; index < step.words && !response.destroyed; index++) {
    if (gate.isHeld()) await gate.passed();
    // Due times are absolute, so that a late timer does not slow the stream down.
    const wait = step.rate === 0 ? 0 : began + (index * 1000) / step.rate - performance.now();
    if (wait > 0) await delay(response, wait);
    await write(
      response,
      speak === plainly ? wordEvent(index, step.stamp === true) : speak(wordChunk(index, step.stamp === true)),
    );
  }
}

async function write(response: ServerResponse, data: string | Uint8Array): Promise<void> {
  keptBytes.get(response)?.push(Buffer.from(data));
  if (!response.write(data)) await writable(response);
}

function writable(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

function delay(response: ServerResponse, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      response.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    response.on('close', done);
  });
}

export const droppedByScript = new WeakSet<ServerResponse>();
export const keptBytes = new WeakMap<ServerResponse, Buffer[]>();

export type Gate = ReturnType<typeof createGate>;

export function createGate() {
  let held: PromiseWithResolvers<void> | undefined;
  let next = Promise.withResolvers<void>();
  return {
    hold(): void {
      held ??= Promise.withResolvers();
    },
    release(): void {
      held?.resolve();
      held = undefined;
      next.resolve();
      next = Promise.withResolvers();
    },
    nextRelease: (): Promise<void> => next.promise,
    isHeld: (): boolean => held !== undefined,
    async passed(): Promise<void> {
      await held?.promise;
    },
  };
}

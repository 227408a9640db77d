import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { Usage } from '@homeport/contracts/chat/frames';
import type { CompletionResult } from '../../../src/chat/model/protocol.ts';
import { protocols } from '../../../src/chat/model/protocols/protocols.ts';
import { readCompletion } from '../../../src/chat/model/stream/event-reader.ts';
import { completionBounds } from '../../../src/chat/model/stream/provider-stream.ts';

/** A parsed answer, as Homeport and the maker's own client read it. */
export type Answer = {
  text: string;
  reasoning: string;
  calls: { name: string; input: unknown }[];
  finish: string;
  usage: Usage | undefined;
};
export type OurAnswer = Answer & { stepState: CompletionResult['stepState']; failure: unknown };

/** Reads a stream with Homeport's parser; `cut` chooses the places where it is cut into chunks. */
export async function readOurs(kind: ProviderKind, bytes: Uint8Array, cut: Cut): Promise<OurAnswer> {
  const answer: OurAnswer = {
    text: '',
    reasoning: '',
    calls: [],
    finish: '',
    usage: undefined,
    stepState: undefined,
    failure: undefined,
  };
  const sink = {
    text(delta: string) {
      answer.text += delta;
    },
    reasoning(delta: string) {
      answer.reasoning += delta;
    },
    toolStart: () => undefined,
    toolDelta: () => undefined,
  };
  let ids = 0;
  const parser = protocols[kind]().createParser(sink, () => `made${ids++}`, completionBounds);
  const body = {
    async *[Symbol.asyncIterator]() {
      yield* chunksOf(bytes, cut);
    },
  };
  try {
    const result = await readCompletion(body, parser, new AbortController().signal);
    answer.calls = result.toolCalls.map((call) => ({ name: call.name, input: JSON.parse(call.arguments) }));
    Object.assign(answer, { finish: result.finishReason, usage: result.usage, stepState: result.stepState });
  } catch (error) {
    answer.failure = error;
  }
  return answer;
}

export type Cut = 'nowhere' | 'everywhere' | Random;
export type Random = () => number;

/** Every stream is read in one piece, cut at every byte, and cut anywhere. */
export const cuts = (random: Random): Cut[] => ['nowhere', 'everywhere', random];

function* chunksOf(bytes: Uint8Array, cut: Cut): Generator<Uint8Array> {
  if (cut === 'nowhere') {
    yield bytes;
    return;
  }
  for (let at = 0; at < bytes.length; ) {
    const end = cut === 'everywhere' ? at + 1 : at + 1 + Math.floor(cut() * 200);
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** A text in pieces as tokens arrive, including cuts within surrogate pairs. */
export function piecesOf(text: string, random: Random): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + Math.floor(random() * 12);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** Interleaved: each list keeps its order. */
export function mixed<T>(lists: readonly (readonly T[])[], random: Random): T[] {
  const left = lists.map((list) => [...list]).filter((list) => list.length > 0);
  const all: T[] = [];
  while (left.length > 0) {
    const at = Math.floor(random() * left.length);
    const list = left[at] ?? [];
    all.push(...list.splice(0, 1));
    if (list.length === 0) left.splice(at, 1);
  }
  return all;
}

/** The style of a server's events: names or none, line ends, comments and unknown members in between. */
export type Style = { named: boolean; lineEnd: string; noise: boolean };
export const styles: Style[] = [
  { named: true, lineEnd: '\n', noise: false },
  { named: true, lineEnd: '\r\n', noise: false },
  { named: true, lineEnd: '\n', noise: true },
];

export type WireEvent = { type: string; [member: string]: unknown };

/** The bytes of an event stream; `unknown` are events that readers must skip. */
export function toBytes(events: readonly unknown[], style: Style, unknown: readonly WireEvent[] = []): Uint8Array {
  const { lineEnd } = style;
  const texts = events.map((event) => {
    const name = style.named && hasType(event) ? `event: ${event.type}${lineEnd}` : '';
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    return `${name}data: ${data}${lineEnd}${lineEnd}`;
  });
  if (style.noise) {
    const odd = unknown.map(
      (event) => `event: ${event.type}${lineEnd}data: ${JSON.stringify(event)}${lineEnd}${lineEnd}`,
    );
    for (const [at, text] of odd.entries()) texts.splice(1 + ((at * 3) % texts.length), 0, text);
    texts.splice(1, 0, `: a comment${lineEnd}${lineEnd}`, `id: 7${lineEnd}retry: 3000${lineEnd}${lineEnd}`);
  }
  return new TextEncoder().encode(texts.join(''));
}

function hasType(event: unknown): event is WireEvent {
  return typeof event === 'object' && event !== null && 'type' in event;
}

/** A `fetch` that answers every request with the stream. */
export function fetchOf(bytes: Uint8Array): () => Promise<Response> {
  return async () => new Response(Buffer.from(bytes), { headers: { 'content-type': 'text/event-stream' } });
}

export const awkwardTexts = [
  'Hello there, friend.',
  '',
  'Zeile\n\n  "quoted" \\ and \u2028 … 日本語 🙂🧑‍🚀 é',
  'Here <think> is no tag',
];

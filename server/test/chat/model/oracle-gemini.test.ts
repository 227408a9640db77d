import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type GenerateContentParameters, type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import { ApiError } from '@homeport/contracts/errors';
import { seededRandom } from '../../../../contracts/test/seeded-random.ts';
import type { GeminiBody } from '../../../src/chat/model/protocols/gemini-request.ts';
import {
  type Answer,
  awkwardTexts,
  cuts,
  fetchOf,
  piecesOf,
  type Random,
  readOurs,
  type Style,
  toBytes,
  type WireEvent,
} from './provider-oracle.ts';

type Part = Record<string, unknown>;
type Chunk = Record<string, unknown>;

const text = (value: string, signature?: string): Part => signed({ text: value }, signature);
const thought = (value: string, signature?: string): Part => signed({ text: value, thought: true }, signature);
const call = (name: string, args: object, signature?: string, id?: string): Part =>
  signed({ functionCall: { ...(id === undefined ? {} : { id }), name, args } }, signature);

function signed(part: Part, signature: string | undefined): Part {
  return signature === undefined ? part : { ...part, thoughtSignature: signature };
}

const contents: Part[][] = [
  ...awkwardTexts.map((value) => [text(value)]),
  [],
  [thought('Let me see 🙂.'), text('Seen.')],
  [thought('Let me see.'), text('Seen.', 'c2ln')],
  [thought('One. '), thought('Two.'), text('Seen.'), text('', 'c2ln')],
  [call('look', { at: 1, deep: { list: [1, 'ü"'] } }, 'c2ln')],
  [call('look', {}, 'c2ln', 'id1'), call('look', { n: 2 }, undefined, 'id2')],
  [thought('Hm.'), text('I look.'), call('look', { n: 1 }, 'c2ln'), call('find', {})],
  [call('look', { n: 1 })],
  [text('A picture: '), { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }, text('done.')],
  [
    { executableCode: { language: 'PYTHON', code: 'print(1)' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK' } },
    text('1'),
  ],
  [{ hologram: { shape: 'cube' } }, text('Look.')],
];
const finishReasons: Record<string, string> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
  RECITATION: 'content-filter',
  MALFORMED_FUNCTION_CALL: 'other',
  A_NEW_REASON: 'other',
};
const usages: object[] = [
  { promptTokenCount: 12, candidatesTokenCount: 40, totalTokenCount: 52 },
  { promptTokenCount: 5000, cachedContentTokenCount: 4096, candidatesTokenCount: 15, thoughtsTokenCount: 25 },
  { promptTokenCount: 12, toolUsePromptTokenCount: 30, candidatesTokenCount: 4 },
];
const unknown: WireEvent[] = [
  { type: 'mood', mood: 'calm' },
  { type: 'x', candidates: [] },
  {
    type: 'x',
    candidates: [{ index: 0, content: { role: 'model', parts: [{ mood: 'calm' }] } }],
    groundingMetadata: {},
  },
];
const styles: Style[] = [
  { named: false, lineEnd: '\r\n', noise: false },
  { named: false, lineEnd: '\n', noise: false },
  { named: false, lineEnd: '\r\n', noise: true },
];

function chunksOf(parts: readonly Part[], finishReason: string, usage: object, random: Random): Chunk[] {
  const metadata = { promptTokenCount: 12 };
  const all = parts.flatMap((part) => cut(part, random));
  const chunks: Chunk[] = [{ usageMetadata: metadata, modelVersion: 'gemini', responseId: 'r1' }];
  for (let at = 0; at < all.length; ) {
    const end = at + 1 + Math.floor(random() * 3);
    const content = { role: 'model', parts: all.slice(at, end) };
    chunks.push({ candidates: [{ index: 0, content }], usageMetadata: metadata });
    at = end;
  }
  chunks.push({ candidates: [{ index: 0, content: { role: 'model' }, finishReason }], usageMetadata: usage });
  return chunks;
}

/** Texts arrive in pieces; a signature arrives with the last. */
function cut(part: Part, random: Random): Part[] {
  if (typeof part.text !== 'string' || part.text === '') return [part];
  const { thoughtSignature, ...rest } = part;
  const pieces = piecesOf(part.text, random).map((piece): Part => ({ ...rest, text: piece }));
  const last = pieces.at(-1);
  return last === undefined || thoughtSignature === undefined ? pieces : pieces.with(-1, { ...last, thoughtSignature });
}

const theirFetch = globalThis.fetch;
let answered: () => Promise<Response>;
before(() => {
  globalThis.fetch = () => answered();
});
after(() => {
  globalThis.fetch = theirFetch;
});

async function readTheirs(bytes: Uint8Array): Promise<{ answer: Answer; parts: Part[] }> {
  answered = fetchOf(bytes);
  const client = new GoogleGenAI({ apiKey: 'key', vertexai: false });
  const answer: Answer = { text: '', reasoning: '', calls: [], finish: '', usage: undefined };
  const parts: Part[] = [];
  for await (const chunk of await client.models.generateContentStream({ model: 'gemini', contents: 'Hi' })) {
    for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
      parts.push(JSON.parse(JSON.stringify(part)));
      if (part.thought === true) answer.reasoning += part.text ?? '';
      else answer.text += part.text ?? '';
    }
    for (const { name = '', args } of chunk.functionCalls ?? []) answer.calls.push({ name, input: args });
    const reason = chunk.candidates?.[0]?.finishReason;
    if (reason !== undefined) answer.finish = finishReasons[reason] ?? 'none';
    answer.usage = usageOf(chunk) ?? answer.usage;
  }
  const isCut = answer.finish === 'length' || answer.finish === 'content-filter';
  if (answer.calls.length > 0 && !isCut) answer.finish = 'tool-calls';
  return { answer, parts };
}

function usageOf({ usageMetadata: usage }: GenerateContentResponse): Answer['usage'] {
  if (usage === undefined) return undefined;
  const { thoughtsTokenCount: thoughts, cachedContentTokenCount: cached } = usage;
  return {
    inputTokens: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
    outputTokens: (usage.candidatesTokenCount ?? 0) + (thoughts ?? 0),
    ...(thoughts === undefined ? {} : { reasoningTokens: thoughts }),
    ...(cached === undefined ? {} : { cachedInputTokens: cached }),
  };
}

test('parses Gemini’s streams as Google’s own client does', async () => {
  let count = 0;
  for (const parts of contents) {
    for (const reason of Object.keys(finishReasons)) {
      for (const style of styles) {
        const random = seededRandom(count++);
        const chunks = chunksOf(parts, reason, usages[count % usages.length] ?? {}, random);
        const bytes = toBytes(chunks, style, unknown);
        const name = `${JSON.stringify(parts)} ${reason} ${JSON.stringify(style)}`;
        // Their client does not read comments.
        const theirs = await readTheirs(toBytes(chunks, { ...style, noise: false }));
        for (const cut of cuts(random)) {
          const { stepState, failure, ...ours } = await readOurs('gemini', bytes, cut);
          assert.equal(failure, undefined, name);
          assert.deepEqual(ours, theirs.answer, name);
          if (stepState === undefined) continue;
          const parts = stepState.map((part) => ({ ...Object(part) }));
          assert.deepEqual(joined(parts), joined(theirs.parts.filter(isKept)), name);
        }
      }
    }
  }
  assert.ok(count >= 120, String(count));
});

const isKept = (part: Part): boolean => part.text !== '' || part.thoughtSignature !== undefined;

/** Joins neighboring texts without a signature. */
function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    const isOpen =
      typeof last?.text === 'string' && last.thoughtSignature === undefined && last.thought === part.thought;
    if (last !== undefined && isOpen && typeof part.text === 'string') {
      all.splice(-1, 1, { ...part, text: `${last.text}${part.text}` });
    } else all.push(part);
  }
  return all;
}

test('reads a blocked prompt, an error in the stream and an answer in one piece', async () => {
  const [style] = styles;
  assert.ok(style !== undefined);
  const read = (events: unknown[]) => readOurs('gemini', toBytes(events, style), 'everywhere');
  const blocked = await read([{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: usages[0] }]);
  assert.deepEqual([blocked.finish, blocked.text, blocked.failure], ['content-filter', '', undefined]);

  const half: WireEvent[] = [{ type: 'x', candidates: [{ content: { parts: [{ text: 'Half' }] } }] }];
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' };
  const error = { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'secret words', details: [retry] };
  const limited = await read([...half, { error }]);
  assert.ok(limited.failure instanceof ApiError && !limited.failure.message.includes('secret'));
  assert.deepEqual([limited.text, limited.failure.retryAfter], ['Half', 34]);
  const details = { status: 429, reason: 'rate_limit', values: {}, providerMessage: 'secret words' };
  assert.deepEqual(limited.failure.details, details);

  const chunks = chunksOf([text('All at once.')], 'STOP', usages[0] ?? {}, seededRandom(3));
  const whole = await readOurs('gemini', new TextEncoder().encode(JSON.stringify(chunks)), 'everywhere');
  assert.deepEqual([whole.text, whole.finish, whole.failure], ['All at once.', 'stop', undefined]);
});

/** Compiles only while Homeport's requests are those of Google’s API, whose client has the settings in one place. */
export function isTheirRequest({ contents, generationConfig, tools = [] }: GeminiBody): GenerateContentParameters {
  const { thinkingConfig: _thinking, ...config } = generationConfig;
  const declarations = tools.flatMap((tool) => tool.functionDeclarations.map(({ parameters: _old, ...each }) => each));
  return {
    model: '',
    contents,
    config: { ...config, tools: [{ functionDeclarations: declarations }] },
  } satisfies GenerateContentParameters;
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJsonEventStream, readUIMessageStream, type UIMessage, uiMessageChunkSchema } from 'ai';
import fc from 'fast-check';
import type { Frame, MessagePart } from './frames.ts';
import { createMessageAssembler, finishParts } from './message-assembly.ts';
import { framesOfParts } from './part-frames.ts';

type Action =
  | { do: 'text' | 'reasoning' | 'tool'; id: number; piece: string }
  | { do: 'end' | 'result' | 'fail' | 'refuse' | 'approve' | 'answer' | 'deny' | 'so-far'; id: number }
  | { do: 'step' | 'notice' | 'next' | 'error' | 'file' };

const piece = fc.string({ unit: 'binary', maxLength: 8 });
const argumentsText = '{"path": "a\\n\\u00e9😀", "n":[1, 2.5,-30,true,null,{"x":{}}],"last":false}';
const id = fc.nat({ max: 3 });
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constantFrom('text', 'reasoning', 'tool'), id, piece }),
  fc.record({ do: fc.constantFrom('text', 'reasoning', 'tool'), id, piece }),
  fc.record({ do: fc.constantFrom('end', 'result', 'fail', 'refuse', 'approve', 'answer', 'deny', 'so-far'), id }),
  fc.record({ do: fc.constantFrom('approve', 'answer', 'deny'), id }),
  fc.record({ do: fc.constantFrom('step', 'notice', 'next', 'error', 'file') }),
);

/** A sequence of frames that the protocol allows: parts are opened before an action refers to them. */
function toFrames(actions: Action[], isInterleaved: boolean, reusesCallIds = true): Frame[] {
  const frames: Frame[] = [
    { type: 'start', messageId: 'm1', messageMetadata: { modelId: 'x' } },
    { type: 'start-step' },
  ];
  const open = new Map<string, 'text' | 'reasoning'>();
  const tools = new Map<string, 'streaming' | 'available' | 'running' | 'done'>();
  const closeAll = (): void => {
    for (const [key, type] of open) frames.push({ type: `${type}-end`, id: key });
    open.clear();
  };
  for (const item of actions) {
    if (item.do === 'text' || item.do === 'reasoning') {
      const key = `${item.do}${item.id}`;
      if (!open.has(key)) {
        if (!isInterleaved) closeAll();
        open.set(key, item.do);
        frames.push({ type: `${item.do}-start`, id: key });
      }
      frames.push({ type: `${item.do}-delta`, id: key, delta: item.piece });
    } else if (item.do === 'end') {
      closeAll();
    } else if (item.do === 'step') {
      closeAll();
      tools.clear();
      frames.push({ type: 'finish-step' }, { type: 'start-step' });
    } else if (item.do === 'notice') {
      frames.push({ type: 'data-notice', data: { code: 'mcp_drifted', message: 'y' } });
    } else if (item.do === 'file') {
      frames.push({ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' });
    } else if (item.do === 'next') {
      frames.push({ type: 'data-next', transient: true, data: { messageId: 'q', assistantId: 'r' } });
    } else if (item.do === 'error') {
      frames.push({ type: 'error', errorText: 'bad' });
    } else {
      pushToolFrames(
        frames,
        tools,
        item,
        reusesCallIds ? 0 : frames.filter((frame) => frame.type === 'start-step').length,
      );
    }
  }
  return frames;
}

function pushToolFrames(
  frames: Frame[],
  tools: Map<string, 'streaming' | 'available' | 'running' | 'done'>,
  item: Action,
  step: number,
): void {
  if (!('id' in item)) return;
  const toolCallId = `call${step}-${item.id}`;
  const toolName = 'look';
  const state = tools.get(toolCallId);
  if (item.do === 'tool') {
    if (state === undefined) frames.push({ type: 'tool-input-start', toolCallId, toolName, dynamic: true });
    if (state !== undefined && state !== 'streaming') return;
    tools.set(toolCallId, 'streaming');
    const sent = frames.findLastIndex((frame) => frame.type === 'tool-input-start' && frame.toolCallId === toolCallId);
    const before = frames.slice(sent).reduce((sum, frame) => sum + deltaLength(frame, toolCallId), 0);
    const inputTextDelta = argumentsText.slice(before, before + item.piece.length);
    frames.push({ type: 'tool-input-delta', toolCallId, inputTextDelta });
    return;
  }
  if (state === 'done') return;
  if (item.do === 'refuse') {
    frames.push({ type: 'tool-input-error', toolCallId, toolName, input: 'raw', errorText: 'refused', dynamic: true });
    tools.set(toolCallId, 'done');
    return;
  }
  if (state === 'running' && item.do !== 'so-far' && item.do !== 'result' && item.do !== 'fail') return;
  if (state !== 'available' && state !== 'running') {
    frames.push({ type: 'tool-input-available', toolCallId, toolName, input: { at: [1] }, dynamic: true });
    tools.set(toolCallId, 'available');
    return;
  }
  if (item.do === 'so-far') {
    const output = `output ${frames.length}`;
    frames.push({ type: 'tool-output-available', toolCallId, output, dynamic: true, preliminary: true });
    tools.set(toolCallId, 'running');
    return;
  }
  if (item.do === 'approve') {
    frames.push({ type: 'tool-approval-request', approvalId: `approve-${toolCallId}-${frames.length}`, toolCallId });
    return;
  }
  if (item.do === 'answer' || item.do === 'deny') {
    const step = frames.slice(frames.findLastIndex((frame) => frame.type === 'start-step'));
    const request = step.findLast((frame) => frame.type === 'tool-approval-request' && frame.toolCallId === toolCallId);
    if (request?.type !== 'tool-approval-request') return;
    const answer = { approvalId: request.approvalId, ...(item.do === 'deny' ? { reason: 'no' } : {}) };
    frames.push({ type: 'tool-approval-response', approved: item.do === 'answer', ...answer });
    if (item.do === 'answer') return;
    frames.push({ type: 'tool-output-denied', toolCallId });
    tools.set(toolCallId, 'done');
    return;
  }
  tools.set(toolCallId, 'done');
  if (item.do === 'fail') frames.push({ type: 'tool-output-error', toolCallId, errorText: 'failed', dynamic: true });
  else frames.push({ type: 'tool-output-available', toolCallId, output: { seen: null }, dynamic: true });
}

function deltaLength(frame: Frame, toolCallId: string): number {
  return frame.type === 'tool-input-delta' && frame.toolCallId === toolCallId ? frame.inputTextDelta.length : 0;
}

/** Assembles the frames with the AI SDK, from the wire format. */
async function readBySdk(frames: Frame[]): Promise<UIMessage | undefined> {
  const wire = frames.map((frame, index) => `id: ${index}\ndata: ${JSON.stringify(frame)}\n\n`);
  // `message-metadata` makes the SDK write a snapshot; not every frame does.
  wire.push(`data: ${JSON.stringify({ type: 'message-metadata', messageMetadata: {} })}\n\n`, 'data: [DONE]\n\n');
  const bytes = new Blob([wire.join('')]).stream();
  const chunks = parseJsonEventStream({ stream: bytes, schema: uiMessageChunkSchema }).pipeThrough(
    new TransformStream({
      transform(parsed, controller) {
        if (!parsed.success) throw parsed.error;
        controller.enqueue(parsed.value);
      },
    }),
  );
  let last: UIMessage | undefined;
  const onError = (error: unknown): void => {
    if (!(error instanceof Error) || error.message !== 'bad') throw error;
  };
  for await (const message of readUIMessageStream({ stream: chunks, onError })) last = message;
  return last;
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function assemble(frames: Frame[], initialParts?: MessagePart[]) {
  const assembler = createMessageAssembler(initialParts);
  for (const frame of frames) assembler.apply(frame);
  return assembler;
}

/** More of them: ASSEMBLY_RUNS=2000. */
const runs = Number(process.env.ASSEMBLY_RUNS ?? 300);

test('assembles the same message as readUIMessageStream after every frame', async () => {
  const property = fc.asyncProperty(fc.array(action, { maxLength: 25 }), fc.nat(), async (actions, at) => {
    const all = toFrames(actions, true);
    const frames = all.slice(0, 1 + (at % all.length));
    const assembler = assemble(frames);
    const oracle = await readBySdk(frames);
    assert.deepEqual(plain(assembler.parts), plain(oracle?.parts));
    assert.deepEqual(assembler.metadata, oracle?.metadata);
    assert.equal(assembler.messageId, oracle?.id);
  });
  await fc.assert(property, { numRuns: runs });
});

test('resumes from any frame with the same result and never changes earlier snapshots', () => {
  const property = fc.property(fc.array(action, { maxLength: 30 }), fc.nat(), (actions, at) => {
    const frames = toFrames(actions, false);
    const boundary = at % (frames.length + 1);
    const whole = assemble(frames);
    const first = assemble(frames.slice(0, boundary));
    const before = first.parts;
    const kept = JSON.stringify(before);
    const rest = assemble(frames.slice(boundary), JSON.parse(kept));
    assert.deepEqual(plain(rest.parts), plain(whole.parts));
    for (const frame of frames.slice(boundary)) first.apply(frame);
    assert.equal(JSON.stringify(before), kept);
    assert.deepEqual(plain(first.parts), plain(whole.parts));
  });
  fc.assert(property, { numRuns: runs });
});

test('keeps closing frames, stored parts and their frames consistent', async () => {
  const property = fc.asyncProperty(
    fc.array(action, { maxLength: 25 }),
    fc.boolean(),
    fc.boolean(),
    async (actions, isInterleaved, keepsApprovals) => {
      const frames = toFrames(actions, isInterleaved, false);
      const assembler = assemble(frames);
      const finished = finishParts(assemble(frames).parts, { keepsApprovals });
      const closing = assembler.closingFrames({ keepsApprovals });
      for (const frame of closing) assembler.apply(frame);
      assert.deepEqual(plain(assembler.parts), plain(finished));
      const oracle = await readBySdk([...frames, ...closing]);
      assert.deepEqual(plain(oracle?.parts), plain(finished));
      assert.deepEqual(plain(assemble(framesOfParts(finished)).parts), plain(finished));
      assert.ok(!JSON.stringify(finished).includes('"streaming"'));
    },
  );
  await fc.assert(property, { numRuns: runs });
});

test('uses only frame types of the AI SDK', async () => {
  const frames: Frame[] = [
    { type: 'start', messageId: 'm', messageMetadata: { modelId: 'x', createdAt: '2026-01-01T00:00:00.000Z' } },
    { type: 'data-next', transient: true, data: { messageId: 'a', assistantId: 'b' } },
    { type: 'data-notice', data: { code: 'turn_budget', message: 'b' } },
    { type: 'abort', reason: 'stopped' },
    { type: 'error', errorText: 'bad' },
    { type: 'finish-step' },
    {
      type: 'finish',
      finishReason: 'content-filter',
      messageMetadata: {
        status: 'failed',
        usage: { inputTokens: 1, outputTokens: 2 },
        error: { code: 'c', message: 'm' },
      },
    },
  ];
  const oracle = await readBySdk(frames);
  const assembler = assemble(frames);
  assert.deepEqual(oracle?.parts, assembler.parts);
  assert.deepEqual(oracle?.metadata, assembler.metadata);
  assert.deepEqual([assembler.finishReason, assembler.errorText], ['content-filter', 'bad']);
});

test('keeps the identity of unchanged parts between snapshots', () => {
  const assembler = assemble([
    { type: 'text-start', id: 'a' },
    { type: 'text-delta', id: 'a', delta: 'one' },
    { type: 'text-end', id: 'a' },
    { type: 'text-start', id: 'b' },
  ]);
  const [first, second] = assembler.parts;
  assert.equal(assembler.parts, assembler.parts);
  assembler.apply({ type: 'text-delta', id: 'b', delta: 'two' });
  assert.equal(assembler.parts[0], first);
  assert.notEqual(assembler.parts[1], second);
  assert.deepEqual(second, { type: 'text', text: '', state: 'streaming' });
});

test('ignores frames for unknown parts', () => {
  const assembler = assemble([
    { type: 'text-end', id: 'x' },
    { type: 'tool-output-available', toolCallId: 'x', output: 1, dynamic: true },
    { type: 'tool-input-delta', toolCallId: 'x', inputTextDelta: '{' },
    { type: 'text-delta', id: 'x', delta: 'kept' },
  ]);
  assert.deepEqual(assembler.parts, [{ type: 'text', text: 'kept', state: 'streaming' }]);
});

test('starts over with another message id', () => {
  const assembler = assemble([
    { type: 'start', messageId: 'one' },
    { type: 'text-start', id: 'a' },
    { type: 'start', messageId: 'one' },
    { type: 'text-delta', id: 'a', delta: 'kept' },
  ]);
  assert.equal(assembler.parts.length, 1);
  assembler.apply({ type: 'start', messageId: 'two' });
  assert.deepEqual(assembler.parts, []);
});

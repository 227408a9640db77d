import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DynamicToolPart, Frame, MessagePart } from '@homeport/contracts/chat/frames';
import { createMessageAssembler, finishParts } from '@homeport/contracts/chat/message-assembly';
import { defaultTurnBudget } from '@homeport/contracts/chat/turn-budget-default';
import { ApiError } from '@homeport/contracts/errors';
import { startFakeProvider } from '../../../test/fakes/provider/provider.ts';
import { requestLoopback } from '../../../test/fakes/provider/provider-request.ts';
import type { CompletionResult, CompletionSink } from '../model/protocol.ts';
import { initialDialect } from '../model/provider-dialect.ts';
import { type ChatMessage, toProviderMessages } from '../model/provider-messages.ts';
import { createModelClient } from '../model/stream/provider-stream.ts';
import { askTool } from '../tools/ask-tool.ts';
import type { Tool } from '../tools/tool-run.ts';
import { Spending } from './spending.ts';
import { runTurn, type TurnOptions } from './turn-loop.ts';

type Answer = (
  sink: CompletionSink,
  messages: ChatMessage[],
  signal: AbortSignal,
) => Promise<CompletionResult> | CompletionResult;

const usage = { inputTokens: 10, outputTokens: 2 };
const says =
  (text: string): Answer =>
  (sink) => {
    sink.text(text);
    return { finishReason: 'stop', usage, toolCalls: [] };
  };
const asks =
  (...calls: [id: string, name: string, args: string][]): Answer =>
  (sink) => {
    sink.reasoning('Let me see.');
    for (const [id, name, args] of calls) {
      sink.toolStart({ id, name });
      sink.toolDelta(id, args);
    }
    return {
      finishReason: 'tool-calls',
      usage,
      toolCalls: calls.map(([id, name, args]) => ({ id, name, arguments: args })),
    };
  };

function tool(name: string, execute: Tool['execute']): Tool {
  return { name, description: name, inputSchema: { type: 'object', properties: {} }, execute };
}
const double = tool('double', async (input) => ({ result: Number(input.n) * 2 }));

async function run(answers: Answer[], extra: Partial<TurnOptions> = {}, signal = new AbortController().signal) {
  const frames: Frame[] = [];
  const asked: ChatMessage[][] = [];
  let ids = 0;
  let at = 0;
  const result = await runTurn(
    {
      askModel: async ({ messages }, sink, askSignal) => {
        asked.push(messages);
        const answer = answers[Math.min(at++, answers.length - 1)];
        assert.ok(answer);
        return answer(sink, messages, askSignal);
      },
      messages: [{ role: 'user', content: 'Go' }],
      tools: [double],
      emit: (frame) => void frames.push(frame),
      createId: () => `id${ids++}`,
      ...extra,
    },
    signal,
  );
  const assembler = createMessageAssembler();
  for (const frame of frames) assembler.apply(frame);
  assert.deepEqual(finishParts(assembler.parts), assembler.parts, 'nothing is left open');
  return { result, frames, asked, parts: assembler.parts };
}

const toolParts = (parts: MessagePart[]): DynamicToolPart[] => parts.filter((part) => part.type === 'dynamic-tool');

test('answers without tools in one step', async () => {
  const { result, frames } = await run([says('Hello')]);
  assert.deepEqual(frames, [
    { type: 'start-step' },
    { type: 'text-start', id: 'id0' },
    { type: 'text-delta', id: 'id0', delta: 'Hello' },
    { type: 'text-end', id: 'id0' },
    { type: 'finish-step' },
  ]);
  assert.deepEqual(result, {
    outcome: 'complete',
    finishReason: 'stop',
    end: { reason: 'stop', detail: null },
    usage,
    promptTokens: 10,
    contextTokens: 12,
    error: undefined,
    steps: 1,
  });
});

test('runs tools, returns their results, and replays the stored parts to the same messages', async () => {
  const answers = [
    asks(['a', 'double', '{"n":2}'], ['b', 'double', '{"n":3}']),
    asks(['c', 'double', '{}']),
    says('Done'),
  ];
  const { result, asked, parts } = await run(answers);
  assert.equal(result.steps, 3);
  assert.deepEqual(result.usage, { inputTokens: 30, outputTokens: 6 });
  assert.equal(result.promptTokens, 10);
  assert.deepEqual(asked[1]?.slice(1), [
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'Let me see.',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'double', arguments: '{"n":2}' } },
        { id: 'b', type: 'function', function: { name: 'double', arguments: '{"n":3}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: '{"result":4}' },
    { role: 'tool', tool_call_id: 'b', content: '{"result":6}' },
  ]);
  const replayed = toProviderMessages([
    { role: 'user', parts: [{ type: 'text', text: 'Go' }] },
    { role: 'assistant', parts },
  ]);
  assert.deepEqual(replayed, [...(asked[2] ?? []), { role: 'assistant', content: 'Done' }]);
});

test('runs the tools of one answer concurrently, up to a limit', async () => {
  let running = 0;
  let most = 0;
  const waits: (() => void)[] = [];
  const slow = tool('slow', async () => {
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => {
      waits.push(resolve);
      if (waits.length === 3) for (const go of waits) go();
      if (waits.length > 3) resolve();
    });
    running--;
    return 'ok';
  });
  const calls = Array.from({ length: 5 }, (_, index): [string, string, string] => [`c${index}`, 'slow', '{}']);
  const { parts } = await run([asks(...calls), says('Done')], { tools: [slow], bounds: { maxParallelTools: 3 } });
  assert.equal(most, 3);
  assert.deepEqual(
    toolParts(parts).map((part) => [part.toolCallId, part.state, part.output]),
    calls.map(([id]) => [id, 'output-available', 'ok']),
  );
});

test('returns calls that cannot run as results to the model, and continues the turn', async () => {
  const failing = tool('failing', async () => {
    throw new Error('/etc/passwd of the host');
  });
  const refusing = tool('refusing', async () => {
    throw new ApiError('not_found', 'No such file.');
  });
  const cyclic = tool('cyclic', async () => {
    const value: Record<string, unknown> = {};
    value.self = value;
    return value;
  });
  const failures: unknown[] = [];
  const { result, parts, asked } = await run(
    [
      asks(
        ['a', 'nothing', '{}'],
        ['b', 'double', '{"n"'],
        ['c', 'double', '[1]'],
        ['d', 'failing', '{}'],
        ['e', 'refusing', 'null'],
        ['f', 'cyclic', '{}'],
      ),
      says('Sorry'),
    ],
    { tools: [failing, refusing, cyclic, double], onToolFailure: (name) => void failures.push(name) },
  );
  assert.equal(result.outcome, 'complete');
  assert.deepEqual(
    toolParts(parts).map((part) => part.errorText),
    [
      'There is no tool with this name. Available: failing, refusing, cyclic, double.',
      'The arguments are not a valid JSON object.',
      'The arguments are not a valid JSON object.',
      'The tool failed unexpectedly.',
      'No such file.',
      'The tool failed unexpectedly.',
    ],
  );
  assert.deepEqual(failures, ['failing', 'cyclic']);
  assert.equal(asked[1]?.filter((message) => message.role === 'tool').length, 6);
});

test('asks once more for a call that the server could not read, with what was said before it', async () => {
  const fails: Answer = (sink) => {
    sink.text('I look. ');
    return {
      finishReason: 'other',
      isMalformed: true,
      finishDetail: 'Malformed function call: print(',
      usage,
      toolCalls: [],
    };
  };
  const { result, asked, parts } = await run([fails, asks(['c1', 'double', '{"n":2}']), says('Four.')]);
  assert.deepEqual([result.outcome, result.end], ['complete', { reason: 'stop', detail: null }]);
  assert.equal(asked.length, 3);
  assert.deepEqual(asked[1]?.[1], { role: 'assistant', content: 'I look. ' });
  assert.match(String(asked[1]?.[2]?.content), /could not be read and was not run/);
  assert.equal(toolParts(parts)[0]?.state, 'output-available');

  const never = await run([fails]);
  assert.equal(never.asked.length, 2);
  assert.deepEqual(never.result.end, { reason: 'error', detail: 'Malformed function call: print(' });
  assert.deepEqual([never.result.outcome, never.result.error?.code], ['failed', 'provider_error']);

  const silent: Answer = () => ({ finishReason: 'other', isMalformed: true, usage, toolCalls: [] });
  const again = await run([silent, says('Four.')]);
  assert.deepEqual(
    again.parts.map(({ type }) => type),
    ['step-start', 'text'],
    'nothing of the first attempt is shown',
  );
});

test('does not run a call cut off by the length limit', async () => {
  let ran = 0;
  const counting = tool('count', async () => ++ran);
  const cut: Answer = async (sink, messages, signal) => {
    const answer = await asks(['a', 'count', '{}'], ['b', 'count', '{}'])(sink, messages, signal);
    return { ...answer, finishReason: 'length' };
  };
  const { parts } = await run([cut, says('Done')], { tools: [counting] });
  assert.equal(ran, 1);
  assert.match(toolParts(parts)[1]?.errorText ?? '', /maximum length/);
});

test('replaces ids that a server repeats', async () => {
  const { parts, asked } = await run([
    asks(['call_0', 'double', '{"n":1}']),
    asks(['call_0', 'double', '{"n":2}']),
    says('Done'),
  ]);
  const ids = toolParts(parts).map((part) => part.toolCallId);
  assert.equal(new Set(ids).size, 2);
  assert.equal(asked[2]?.filter((message) => message.role === 'tool' && ids.includes(message.tool_call_id)).length, 2);
});

test('replaces repeated ids of an answer that is continued', async () => {
  const earlier = { id: 'call_0', type: 'function', function: { name: 'double', arguments: '{}' } } as const;
  const messages: ChatMessage[] = [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: null, tool_calls: [earlier] },
    { role: 'tool', tool_call_id: 'call_0', content: '2' },
  ];
  const { parts, asked } = await run([asks(['call_0', 'double', '{"n":2}']), says('Done')], { messages });
  const [{ toolCallId = '' } = {}] = toolParts(parts);
  assert.notEqual(toolCallId, 'call_0');
  assert.equal(asked[1]?.filter((message) => message.role === 'tool').at(-1)?.tool_call_id, toolCallId);
});

test('stores the reasoning state before its calls count as requested', async () => {
  const texts: string[] = [];
  const sealed: Answer = async (sink, messages, signal) => ({
    ...(await asks(['a', 'double', '{"n":1}'])(sink, messages, signal)),
    stepState: ['sealed'],
  });
  await run([sealed, says('Done')], {
    emit: ({ type }) => void texts.push(type),
    async onStepState(callId, stepState) {
      await Promise.resolve();
      texts.push(`${callId} ${stepState.join()}`);
    },
  });
  const stored = texts.indexOf('a sealed');
  assert.ok(stored > texts.indexOf('tool-input-delta') && stored < texts.indexOf('tool-input-available'), texts.join());
});

test('omits a call that was cut while it was streamed, and does not run it', async () => {
  const stopping = new AbortController();
  const cut: Answer = (sink, _messages, signal) =>
    new Promise((_resolve, reject) => {
      sink.text('I look.');
      sink.toolStart({ id: 'a', name: 'double' });
      sink.toolDelta('a', '{"n":');
      signal.addEventListener('abort', () => reject(signal.reason));
      stopping.abort(new Error('stop'));
    });
  const { parts } = await run([cut], {}, stopping.signal);
  assert.equal(toolParts(parts)[0]?.errorText, 'The answer broke off before the tool could run.');
  assert.deepEqual(toProviderMessages([{ role: 'assistant', parts }]), [{ role: 'assistant', content: 'I look.' }]);
});

test('caps the number of steps, and emits a notice', async () => {
  const spending = new Spending({ ...defaultTurnBudget, steps: 4 }, () => 0);
  const { result, frames } = await run([asks(['a', 'double', '{"n":1}'])], { spending });
  assert.equal(result.steps, 4);
  assert.equal(result.finishReason, 'tool-calls');
  const last = frames.at(-1);
  assert.ok(last?.type === 'data-notice' && last.data.code === 'turn_budget' && last.data.message.includes('4 steps'));
});

test('counts time, except the time a person takes to decide or answer', async () => {
  let minutes = 0;
  const takes = async (some: number): Promise<void> => {
    await Promise.resolve();
    minutes += some;
  };
  const wait = async () => {
    await takes(600);
    return { approved: true, reason: undefined, answers: [['Yes']] };
  };
  const drop = async () => undefined;
  const approvals = { request: async ({ toolCallId }: { toolCallId: string }) => toolCallId, wait, drop };
  const tools = [
    { ...double, name: 'asked', readPolicy: async () => 'ask' as const },
    askTool,
    tool('slow', () => takes(6)),
  ];
  const turn = (...names: string[]) => {
    const calls = names.map((name) =>
      asks(['a', name, name === 'ask' ? '{"questions":[{"question":"Well?"}]}' : '{}']),
    );
    const spending = new Spending({ ...defaultTurnBudget, minutes: 10 }, () => minutes * 60_000);
    return run([...calls, says('Done')], { tools, approvals, spending });
  };
  const patient = await turn('asked', 'ask', 'slow');
  assert.deepEqual([patient.result.finishReason, patient.result.steps], ['stop', 4]);
  const { result, frames } = await turn('slow', 'asked', 'slow');
  assert.deepEqual([result.finishReason, result.steps], ['tool-calls', 3]);
  const last = frames.at(-1);
  assert.ok(last?.type === 'data-notice' && last.data.message.includes('10 minutes'));
});

test('emits nothing for a failure before the first token, and keeps earlier output after a later one', async () => {
  const fails: Answer = () => {
    throw new ApiError('provider_error', 'Refused', { details: { status: 401 } });
  };
  const early = await run([fails]);
  assert.deepEqual(early.frames, []);
  assert.equal(early.result.outcome, 'failed');
  assert.equal(early.result.finishReason, 'error');
  assert.equal(early.result.error?.message, 'Refused');
  const late = await run([
    (sink, messages, signal) => {
      sink.text('Half');
      sink.toolStart({ id: 'a', name: 'double' });
      sink.toolDelta('a', '{"n":');
      return fails(sink, messages, signal);
    },
  ]);
  assert.equal(late.result.outcome, 'failed');
  assert.deepEqual(
    late.parts.map((part) => part.type),
    ['step-start', 'text', 'dynamic-tool'],
  );
  const unknown = await run([
    () => {
      throw new TypeError('x is not a function');
    },
  ]);
  assert.equal(unknown.result.error?.code, 'internal_error');
});

test('ends a turn on abort while the model answers and while a tool hangs', async () => {
  const answering = new AbortController();
  const stopped = await run(
    [
      (sink, _messages, signal) =>
        new Promise((_resolve, reject) => {
          sink.text('Half');
          signal.addEventListener('abort', () => reject(signal.reason));
          answering.abort(new Error('stop'));
        }),
    ],
    {},
    answering.signal,
  );
  assert.equal(stopped.result.outcome, 'aborted');
  assert.equal(stopped.result.error, undefined);
  const running = new AbortController();
  let sawAbort = false;
  const hanging = tool('hang', (_input, { signal }) => {
    signal.addEventListener('abort', () => {
      sawAbort = true;
    });
    running.abort(new Error('stop'));
    return new Promise(() => undefined);
  });
  const cut = await run([asks(['a', 'hang', '{}']), says('never')], { tools: [hanging] }, running.signal);
  assert.equal(cut.result.outcome, 'aborted');
  assert.ok(sawAbort);
  assert.equal(cut.asked.length, 1);
  assert.equal(toolParts(cut.parts)[0]?.errorText, 'Stopped before the tool returned a result.');
  assert.equal((await run([says('never')], {}, AbortSignal.abort())).result.outcome, 'aborted');
});

test('stops a tool at its timeout, and reports that to the model', async () => {
  const hanging = tool('hang', () => new Promise(() => undefined));
  const { parts, result } = await run([asks(['a', 'hang', '{}']), says('I see')], {
    tools: [hanging],
    bounds: { toolTimeoutMs: 10 },
  });
  assert.equal(result.outcome, 'complete');
  assert.match(toolParts(parts)[0]?.errorText ?? '', /took longer/);
});

test('makes tool output bounded and storable', async () => {
  const talkative = tool('talk', async (input) =>
    input.as === 'text' ? 'ü'.repeat(1000) : { long: 'x'.repeat(1000), nul: 'a\0b' },
  );
  const { parts } = await run(
    [asks(['a', 'talk', '{"as":"text"}'], ['b', 'talk', '{}'], ['c', 'talk', '{"as":"\\u0000\\ud800"}']), says('Done')],
    {
      tools: [talkative],
      bounds: { maxToolOutputBytes: 101 },
    },
  );
  const [text, object, odd] = toolParts(parts);
  assert.equal(text?.output, `${'ü'.repeat(50)}\n[Output cut: the first 101 of 2000 bytes]`);
  assert.match(String(object?.output), /^\{"long":"x+\n\[Output cut/);
  assert.deepEqual(odd?.input, { as: '\uFFFD' });
});

test('calls checkpoints around the tools, and ends the turn without open parts if one fails', async () => {
  const order: string[] = [];
  const noting = tool('note', async () => void order.push('tool'));
  const onCheckpoint = async (): Promise<void> => void order.push('checkpoint');
  await run([asks(['a', 'note', '{}']), says('Done')], { tools: [noting], onCheckpoint });
  assert.deepEqual(order, ['checkpoint', 'tool', 'checkpoint']);
  const lost = async (): Promise<void> => {
    throw new Error('lease lost');
  };
  await assert.rejects(run([asks(['a', 'note', '{}'])], { tools: [noting], onCheckpoint: lost }), /lease lost/);
});

test('runs tools over several steps against a server, fitted before each', async () => {
  const provider = await startFakeProvider();
  try {
    const signal = new AbortController().signal;
    let fitted = 0;
    const { result, parts } = await run(
      [],
      {
        askModel: ({ messages, tools }, sink, askSignal) =>
          createModelClient('openai')(
            {
              request: requestLoopback('pump'),
              baseUrl: provider.url,
              modelId: 'tools-3',
              messages,
              tools,
              maxOutputTokens: 100,
              dialect: initialDialect(provider.url),
              createId: () => 'x',
              sleep: async () => undefined,
              random: () => 1,
              now: () => 0,
              firstByteMs: 5000,
              idleTimeoutMs: 5000,
            },
            sink,
            askSignal,
          ),
        fitMessages: (messages) => {
          fitted++;
          return messages;
        },
      },
      signal,
    );
    assert.equal(result.steps, 2);
    assert.equal(fitted, 2);
    assert.equal(parts.findLast((part) => part.type === 'text')?.text, 'Done after 3 tool results.');
  } finally {
    await provider.close();
  }
});

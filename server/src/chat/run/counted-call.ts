import type { Usage } from '@homeport/contracts/chat/frames';
import type { ResolvedModel } from '../../catalogue/model-choice.ts';
import { estimateTokens } from '../../platform/text-tokens.ts';
import type { CalledModel, CallKind, ModelCall } from '../../usage/ledger.ts';
import { priced } from '../../usage/price.ts';
import type { CompletionResult, CompletionSink } from '../model/protocol.ts';

/** Receives each model call after its end. */
export type OnCall = (call: ModelCall) => void;

function calledModel({ model, providerName }: ResolvedModel): CalledModel {
  const { providerModelId, prices, pricesEstimated } = model;
  return { providerName, providerModelId, prices, pricesEstimated };
}

/**
 * Asks a model and reports the call with its usage and cost. Estimates the usage of a call that was cut off, or whose
 * provider reports none; a call that failed before its first output costs nothing.
 */
export async function countedCall(
  { kind, resolved, inputTokens }: { kind: CallKind; resolved: ResolvedModel; inputTokens: () => number },
  onCall: OnCall,
  ask: (sink: CompletionSink) => Promise<CompletionResult>,
  { sink, signal }: { sink: CompletionSink; signal: AbortSignal },
): Promise<CompletionResult> {
  const model = calledModel(resolved);
  const listened = listening(sink);
  const report = (usage: Usage, estimated: boolean) => {
    // A provider that reports the cost knows it.
    const isReported = typeof usage.cost === 'number';
    const called = isReported ? { ...model, pricesEstimated: false } : model;
    const call = { kind, model: called, usage: priced(usage, model.prices), estimated };
    onCall(call);
    return call.usage;
  };
  const estimate = () => report({ inputTokens: inputTokens(), outputTokens: estimateTokens(listened.text()) }, true);
  try {
    const answer = await ask(listened.sink);
    if (answer.usage === undefined) estimate();
    else return { ...answer, usage: report(answer.usage, false) };
    return answer;
  } catch (error) {
    if (signal.aborted || listened.text() !== '') estimate();
    throw error;
  }
}

/** Wraps a sink and keeps the text that passes through it. */
function listening(sink: CompletionSink): { sink: CompletionSink; text: () => string } {
  let text = '';
  return {
    text: () => text,
    sink: {
      text(delta) {
        text += delta;
        sink.text(delta);
      },
      reasoning(delta) {
        text += delta;
        sink.reasoning(delta);
      },
      textWasReasoning: (text) => sink.textWasReasoning?.(text),
      toolStart(call) {
        text += call.name;
        sink.toolStart(call);
      },
      toolDelta(id, delta) {
        text += delta;
        sink.toolDelta(id, delta);
      },
      state: (item) => sink.state?.(item),
      source: (source) => sink.source?.(source),
      picture: (picture) => sink.picture?.(picture),
    },
  };
}

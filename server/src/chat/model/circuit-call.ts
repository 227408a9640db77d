import type { StandInReason } from '@homeport/contracts/catalogue/catalogue';
import { ApiError } from '@homeport/contracts/errors';
import type { Admission, Circuit } from '../../catalogue/circuits.ts';
import { providerFailure } from './failures/provider-errors.ts';
import { isOutage, standInReasonOf } from './failures/stand-in-reason.ts';
import type { CompletionSink } from './protocol.ts';
import type { CompletionOptions, ModelClient } from './stream/provider-stream.ts';

/** Pause while another call probes the provider. */
const probedPauseMs = 1_000;
const longestWaitMs = 75_000;

/**
 * A client that respects the provider's circuit breaker and reports to it. While the circuit is open, a call that a
 * stand-in can answer fails at once; other calls wait for it to close.
 */
export function withCircuit(circuit: Circuit, ask: ModelClient): ModelClient {
  return async (options, sink, signal) => {
    const admission = await admitted(circuit, options, signal);
    let isDecided = false;
    const succeed = (): void => {
      if (!isDecided) circuit.succeed();
      isDecided = true;
    };
    try {
      const answer = await ask(options, reporting(sink, succeed), signal);
      succeed();
      return answer;
    } catch (error) {
      if (!isDecided) reportFailure(circuit, admission, error, options.now(), signal);
      throw error;
    }
  };
}

async function admitted(circuit: Circuit, options: CompletionOptions, signal: AbortSignal): Promise<Admission> {
  const until = options.now() + longestWaitMs;
  for (;;) {
    const now = options.now();
    const admission = circuit.admit(now);
    if (admission !== undefined) return admission;
    const { retryAt, reason } = circuit.opened ?? { retryAt: now, reason: 'unreachable' };
    const next = Math.max(retryAt, now + probedPauseMs);
    if (options.isReplaceable === true || next > until) throw openCircuit(reason);
    options.onWait?.({ reason: 'unavailable', retryAt: new Date(next).toISOString() });
    await options.sleep(next - now, signal);
  }
}

function reportFailure(circuit: Circuit, admission: Admission, error: unknown, now: number, signal: AbortSignal): void {
  const reason = error instanceof ApiError ? standInReasonOf(error) : undefined;
  if (signal.aborted || !(error instanceof ApiError)) circuit.release(admission);
  else if (reason !== undefined && isOutage(error)) circuit.fail(admission, reason, now);
  // The server answered, even if with a refusal.
  else if (error.code === 'provider_error') circuit.succeed();
  else circuit.release(admission);
}

/** The failure of a call that was not made. It carries no words of the provider, which answered someone else. */
function openCircuit(reason: StandInReason): ApiError {
  if (reason === 'unreachable') {
    return new ApiError('provider_unreachable', 'The provider has been unreachable for a while. Try again later.');
  }
  const isOverloaded = reason === 'overloaded';
  const failure = {
    status: isOverloaded ? 503 : 500,
    reason: isOverloaded ? 'overloaded' : 'other',
    values: {},
  } as const;
  return providerFailure(failure);
}

function reporting(sink: CompletionSink, onOutput: () => void): CompletionSink {
  return {
    ...sink,
    text(delta) {
      onOutput();
      sink.text(delta);
    },
    reasoning(delta) {
      onOutput();
      sink.reasoning(delta);
    },
    toolStart(call) {
      onOutput();
      sink.toolStart(call);
    },
  };
}

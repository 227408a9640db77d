import { Duplex } from 'node:stream';
import { ApiError, type ErrorCode } from '@homeport/contracts/errors';
import { type DaemonHealth, daemonError, daemonHealth, daemonProtocol } from '@homeport/contracts/workspace/daemon';
import { type DaemonErrorCode, daemonErrorStatus } from '@homeport/contracts/workspace/daemon-errors';
import { z } from 'zod';
import { type DaemonDownload, daemonDownload } from '../egress/daemon-download.ts';
import { type DaemonAddress, type DaemonResponse, daemonRequest, daemonUpgrade } from '../egress/daemon-request.ts';
import { systemClock } from '../platform/clock.ts';
import { parseForeignJson } from '../platform/json/json-scan.ts';
import { type Daemon, OtherProtocol } from './daemon.ts';

const answerBytesMax = 4 * 1024 * 1024;
const answerMs = 60_000;
const refusalMs = 5_000;

/** Refusals that mean the same to a person as to us; anything else is the daemon's fault. */
const passedOn: Partial<Record<DaemonErrorCode, ErrorCode>> = {
  invalid_request: 'invalid_request',
  invalid_path: 'invalid_path',
  not_found: 'not_found',
  path_taken: 'path_taken',
  payload_too_large: 'payload_too_large',
  storage_full: 'storage_full',
  busy: 'rate_limited',
};

/** `address` is called for every request, since it may change; `answered` with the head of every response. */
type DaemonOptions = {
  address: () => Promise<DaemonAddress>;
  token: string;
  healthMs: number;
  answered?: () => void;
};

/** A daemon at its runtime's address, opened by `token`, which has `healthMs` to say that it is there. */
export function createDaemon(options: DaemonOptions): Daemon {
  const request: Daemon['request'] = async (path, init = {}) => {
    const headers = { ...init.headers, authorization: `Bearer ${options.token}` };
    try {
      const answer = await daemonRequest(await options.address(), path, { ...init, headers });
      options.answered?.();
      return answer;
    } catch (error) {
      if (init.signal?.aborted === true) throw init.signal.reason;
      throw failed('The workspace does not answer', error);
    }
  };
  const call: Daemon['call'] = async (path, schema, init = {}) => {
    const { json, timeoutMs = answerMs, ...rest } = init;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = rest.signal === undefined ? timeout : AbortSignal.any([rest.signal, timeout]);
    const body = json === undefined ? {} : { body: JSON.stringify(json), method: rest.method ?? 'POST' };
    const type = json === undefined ? {} : { 'content-type': 'application/json' };
    const sent = { ...rest, ...body, headers: { ...rest.headers, ...type }, signal };
    const answer = await request(path, sent).catch((error) => {
      const isOver = timeout.aborted && rest.signal?.aborted !== true;
      throw isOver ? failed('The workspace does not answer', error) : error;
    });
    const value = await readJson(answer, init.signal);
    if (answer.status < 200 || answer.status > 299) throw refusal(answer.status, value);
    try {
      return schema.parse(value);
    } catch (error) {
      if (error instanceof OtherProtocol) throw error;
      throw failed('The workspace sent an invalid response', error);
    }
  };
  return {
    request,
    call,
    async download(path, wish) {
      const headers = { ...wish.headers, authorization: `Bearer ${options.token}` };
      try {
        return await daemonDownload(await options.address(), path, { ...wish, headers });
      } catch (error) {
        if (wish.signal.aborted) throw wish.signal.reason;
        throw failed('The workspace does not answer', error);
      }
    },
    async upgrade(path, signal) {
      const headers = { authorization: `Bearer ${options.token}` };
      let answer: Awaited<ReturnType<typeof daemonUpgrade>>;
      try {
        const init = signal === undefined ? { headers } : { headers, signal };
        answer = await daemonUpgrade(await options.address(), path, init);
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        throw failed('The workspace does not answer', error);
      }
      if (answer instanceof Duplex) return answer;
      const { body } = answer;
      const timer = systemClock.after(refusalMs, () => body.destroy(new Error('the refusal did not come in time')));
      throw refusal(answer.status, await readJson(answer, signal).finally(() => timer.stop()));
    },
    async health(signal) {
      const timeout = AbortSignal.timeout(options.healthMs);
      try {
        return await call(
          '/v1/health',
          { parse: parseHealth },
          {
            signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
          },
        );
      } catch (error) {
        if (signal?.aborted !== true && timeout.aborted) throw failed('The workspace does not answer', error);
        throw error;
      }
    },
  };
}

const anyActive = z.record(z.string(), z.number());

/** Throws OtherProtocol if another release wrote it. */
function parseHealth(value: unknown): DaemonHealth {
  const { protocol, active } = z
    .looseObject({ protocol: z.unknown().optional(), active: z.unknown().optional() })
    .parse(value);
  const health = daemonHealth.safeParse(value);
  // One whose version was not changed with its messages is of no more use than one that states another.
  if (protocol === daemonProtocol && health.success) return health.data;
  const counts = anyActive.safeParse(active);
  throw new OtherProtocol({
    version: typeof protocol === 'number' ? protocol : undefined,
    isBusy: !counts.success || Object.values(counts.data).some((count) => count > 0),
  });
}

/** Converts the daemon's refusal to an API error; reads the response's body. */
export async function readRefusal(answer: DaemonResponse, signal: AbortSignal): Promise<ApiError> {
  return refusal(answer.status, await readJson(answer, signal));
}

/** The same for a download. */
export async function readDownloadRefusal(answer: DaemonDownload, signal: AbortSignal): Promise<ApiError> {
  if (Number(answer.headers['content-length']) > answerBytesMax) return failed('The workspace failed', answer.status);
  const chunks: Buffer[] = [];
  try {
    await answer.read(async (bytes) => void chunks.push(Buffer.from(bytes)));
    return refusal(answer.status, parseForeignJson(Buffer.concat(chunks).toString('utf8')));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return failed('The workspace sent an invalid response', error);
  }
}

async function readJson(answer: DaemonResponse, signal: AbortSignal | undefined): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.body) {
      bytes += chunk.length;
      if (bytes > answerBytesMax) throw new Error('the answer is too large');
      chunks.push(chunk);
    }
    return parseForeignJson(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw failed('The workspace sent an invalid response', error);
  } finally {
    answer.body.destroy();
  }
}

function refusal(status: number, value: unknown): ApiError {
  const parsed = daemonError.safeParse(value);
  const code = parsed.success ? parsed.data.error.code : undefined;
  if (!parsed.success || !isDaemonErrorCode(code) || daemonErrorStatus[code] !== status) {
    return failed('The workspace sent an invalid response', value);
  }
  const known = passedOn[code];
  if (known === undefined) return failed('The workspace failed', parsed.data.error);
  const { message } = parsed.data.error;
  // contract.md section 1: an invalid request says what is wrong with it; a daemon does not name the field.
  return new ApiError(known, message, known === 'invalid_request' ? { details: [{ path: '', message }] } : {});
}

function isDaemonErrorCode(code: string | undefined): code is DaemonErrorCode {
  return code !== undefined && Object.hasOwn(daemonErrorStatus, code);
}

function failed(message: string, cause: unknown): ApiError {
  return new ApiError('workspace_request_failed', message, { cause });
}

import type { Egress } from '../../egress/egress.ts';

/** A request without messages: a server that has the path refuses it, so it costs nothing. */

const bounds = { totalMs: 5_000, bodyBytes: 64 * 1024 } as const;

/** True only if the server surely has no such path; whatever else goes wrong shows with the first message. */
export async function isMissing(
  deps: { egress: Pick<Egress, 'request'> },
  { url, headers, modelId }: { url: string; headers: Record<string, string>; modelId: string },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { status, body } = await deps.egress.request(url, {
      method: 'POST',
      body: JSON.stringify({ model: modelId }),
      headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      signal,
      totalTimeoutMs: bounds.totalMs,
      maxRedirects: 0,
      maxResponseBytes: bounds.bodyBytes,
    });
    try {
      if (status === 405 || status === 501) return true;
      // With the same status some servers say that they do not know the model.
      return status === 404 && !/model/i.test(await body.text(bounds.bodyBytes));
    } finally {
      body.destroy();
    }
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

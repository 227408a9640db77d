import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import type { Metrics } from '../platform/metrics.ts';
import { equalSecret } from '../secrets/equal-secret.ts';
import { errorAnswer } from './error-response.ts';
import { type Answer, standardHeaders } from './response.ts';

/**
 * Answers GET /metrics for the bearer of METRICS_TOKEN; while that is unset, nothing is at this address (contract.md
 * section 10).
 */
export async function metricsResponse(
  metrics: Metrics,
  token: string | undefined,
  authorization: string | undefined,
): Promise<Answer> {
  const id = randomUUIDv7();
  const headers = standardHeaders(id);
  const nothing = () => errorAnswer(new ApiError('not_found', 'There is nothing at this address'), id, headers);
  if (token === undefined) return nothing();
  const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (given === undefined || !equalSecret(token, given)) {
    const error = new ApiError('unauthorized', 'Send the metrics token as a bearer token');
    return errorAnswer(error, id, { ...headers, 'www-authenticate': 'Bearer' });
  }
  const rendered = await metrics.render();
  if (rendered === undefined) return nothing();
  return { status: 200, headers: { ...headers, 'content-type': rendered.contentType }, body: rendered.text };
}

import { randomUUIDv7 } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import type { Metrics } from '../platform/metrics.ts';
import { equalSecret } from '../secrets/equal-secret.ts';
import { errorResponse } from './error-response.ts';
import { type HttpResponse, standardHeaders } from './response.ts';

/**
 * Answers GET /metrics for the bearer of METRICS_TOKEN; while that is unset, nothing is at this address (contract.md
 * section 10).
 */
export async function metricsResponse(
  metrics: Metrics,
  token: string | undefined,
  authorization: string | undefined,
): Promise<HttpResponse> {
  const id = randomUUIDv7();
  const headers = standardHeaders(id);
  const nothing = () => errorResponse(new ApiError('not_found', 'There is nothing at this address'), id, headers);
  if (token === undefined) return nothing();
  const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (given === undefined || !equalSecret(token, given)) {
    const error = new ApiError('unauthorized', 'Send the metrics token as a bearer token');
    return errorResponse(error, id, { ...headers, 'www-authenticate': 'Bearer' });
  }
  const rendered = await metrics.render();
  if (rendered === undefined) return nothing();
  return { status: 200, headers: { ...headers, 'content-type': rendered.contentType }, body: rendered.text };
}

import type { IncomingMessage } from 'node:http';
import { grantsScope } from '@homeport/contracts/accounts/token-scopes';
import { ApiError } from '@homeport/contracts/errors';
import type { Metrics } from '../platform/metrics.ts';
import { equalSecret } from '../secrets/equal-secret.ts';
import { invalidToken, isAccessToken } from './credentials.ts';
import { errorResponse } from './error-response.ts';
import type { IdentifyToken } from './guard.ts';
import { requestIdOf } from './request-facts.ts';
import { type HttpResponse, standardHeaders } from './response.ts';

/**
 * Answers GET /metrics for the bearer of METRICS_TOKEN, and for an administrator's access token with the scope
 * `metrics`; while METRICS_TOKEN is unset, nothing is at this address (contract.md section 10).
 */
export async function metricsResponse(
  metrics: Metrics,
  token: string | undefined,
  incoming: IncomingMessage,
  identifyToken: IdentifyToken,
): Promise<HttpResponse> {
  const id = requestIdOf(incoming);
  const headers = standardHeaders(id);
  const nothing = () => errorResponse(new ApiError('not_found', 'There is nothing at this address'), id, headers);
  if (token === undefined) return nothing();
  const refusal = await refusalOf(token, incoming, (given) =>
    identifyToken(given, { address: incoming.socket.remoteAddress ?? '', requestId: id }),
  );
  if (refusal !== undefined) return errorResponse(refusal, id, { ...headers, 'www-authenticate': 'Bearer' });
  const rendered = await metrics.render();
  if (rendered === undefined) return nothing();
  return { status: 200, headers: { ...headers, 'content-type': rendered.contentType }, body: rendered.text };
}

async function refusalOf(
  token: string,
  { headers }: IncomingMessage,
  find: (accessToken: string) => ReturnType<IdentifyToken>,
): Promise<ApiError | undefined> {
  const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (given !== undefined && equalSecret(token, given)) return undefined;
  if (given === undefined || !isAccessToken(given)) {
    return new ApiError('unauthorized', 'Send the metrics token as a bearer token');
  }
  const { actor } = (await find(given)) ?? {};
  if (actor === undefined) return invalidToken();
  const mayRead = actor.role === 'admin' && grantsScope(actor.scopes ?? [], 'metrics');
  return mayRead ? undefined : new ApiError('insufficient_scope', "This needs an administrator's token with metrics");
}

import type { ApiError } from '@homeport/contracts/errors';

/** The words of refusals that came as events of a stream; never part of an error, as they can contain a key. */
const streamed = new WeakMap<ApiError, string>();

export function rememberRefusal(failure: ApiError, text: string): ApiError {
  streamed.set(failure, text);
  return failure;
}

export function streamedRefusal(failure: unknown): string | undefined {
  return typeof failure === 'object' && failure !== null ? streamed.get(failure as ApiError) : undefined;
}

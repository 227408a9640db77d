import { limits } from '@homeport/contracts/limits';
import { z } from 'zod';
import { modelName } from '../chat/schema.ts';
import type { Validate } from '../gateway-request.ts';

const text = z.string().min(1).max(limits.messageTextMax);

const embeddingsBody = z.object({
  model: modelName,
  input: z.union([text, z.array(text).min(1).max(limits.embeddingInputsMax)]),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.number().int().min(1).max(100_000).nullish(),
});

/** A request for embeddings. */
export type EmbeddingsRequest = {
  model: string;
  inputs: string[];
  isBase64: boolean;
  dimensions: number | undefined;
};

/** Reads the body of `/v1/embeddings`. Throws `invalid_request` with the path of the member. */
export function parseEmbeddings(body: Record<string, unknown>, validate: Validate): EmbeddingsRequest {
  const { model, input, encoding_format: format, dimensions } = validate(embeddingsBody, body);
  return {
    model: model ?? 'default',
    inputs: typeof input === 'string' ? [input] : input,
    isBase64: format === 'base64',
    dimensions: dimensions ?? undefined,
  };
}

/** A quick estimate of tokens from the length of a text. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3.6) + 4;
}

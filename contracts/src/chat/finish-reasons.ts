/** How an answer ended (contract.md section 12). */
export const messageFinishReasons = [
  'stop',
  'length',
  'content_filter',
  'refusal',
  'reasoning_only',
  'tool_calls',
  'error',
  'other',
] as const;
export type MessageFinishReason = (typeof messageFinishReasons)[number];

/** The longest explanation of an end, in UTF-16 units. */
export const finishDetailMax = 2_000;

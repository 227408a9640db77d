/** Which tools the model may call: any, none, at least one, or this one. */
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string };

/** JSON of any form, or JSON that fits a schema. */
export type AnswerFormat =
  | { type: 'json' }
  | { type: 'schema'; name: string; description?: string; schema: Record<string, unknown>; strict?: boolean };

/** Thinking as Anthropic's clients ask for it. */
export type AskedThinking = { type: 'enabled'; budgetTokens: number } | { type: 'adaptive' };

/** Settings of one request that no person sets for a model: clients of the gateway send them. */
export type Demands = {
  toolChoice?: ToolChoice;
  /** False: at most one call in an answer. */
  parallelTools?: boolean;
  format?: AnswerFormat;
  thinking?: AskedThinking;
  frequencyPenalty?: number;
  presencePenalty?: number;
  topK?: number;
};

/** The instruction that asks for JSON where a protocol has no member for it. */
export const jsonInstruction = 'Answer with one JSON object and nothing else: no text around it and no code block.';

/** Items of a response's output. */

type Status = 'in_progress' | 'completed' | 'incomplete';
type OutputText = { type: 'output_text'; text: string; annotations: never[]; logprobs: never[] };
type SummaryText = { type: 'summary_text'; text: string };
export type MessageOutput = {
  id: string;
  type: 'message';
  status: Status;
  role: 'assistant';
  content: OutputText[];
};
export type ReasoningOutput = {
  id: string;
  type: 'reasoning';
  status: Status;
  summary: SummaryText[];
  encrypted_content?: string;
};
type Call = { id: string; status: Status; call_id: string; name: string; namespace?: string };
export type CallOutput =
  | (Call & { type: 'function_call'; arguments: string })
  | (Call & { type: 'custom_tool_call'; input: string });
export type OutputItem = MessageOutput | ReasoningOutput | CallOutput;

export function outputText(text: string): OutputText {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

export function summaryText(text: string): SummaryText {
  return { type: 'summary_text', text };
}

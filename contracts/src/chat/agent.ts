import { z } from 'zod';
import { limits } from '../limits.ts';

/** Plan and questions of an agent, shown while it works (contract.md section 11). */

export const planStatuses = ['pending', 'in_progress', 'completed', 'cancelled'] as const;
const planItem = z.object({
  id: z.string().min(1).max(64).optional(),
  content: z.string().min(1).max(limits.planItemMax),
  status: z.enum(planStatuses),
});
export type PlanItem = z.infer<typeof planItem>;

/** The plan in force at the end of a branch, and the answer that made it. */
export const plan = z.object({ messageId: z.string(), items: z.array(planItem) });
export type Plan = z.infer<typeof plan>;

/** People may always answer in their own words. */
export type Question = {
  header?: string;
  question: string;
  options: { label: string; description?: string }[];
  multiple: boolean;
  /** Description and expected kind of answer; only in questions of an MCP server. */
  about?: string;
  field?: QuestionField;
};
/** `values`: the identifiers of the options, as the server names them. `initial`: the answer to begin with. */
export type QuestionField = {
  name: string;
  type: 'text' | 'number' | 'integer' | 'boolean' | 'choice';
  required: boolean;
  min?: number;
  max?: number;
  values?: string[];
  initial?: string[];
};
export type AskedQuestions = {
  questionId: string;
  toolCallId: string;
  questions: Question[];
  /** An MCP server asks while its tool runs; with `url`, the person should open it. */
  from?: { server: string; message: string; url?: string };
  /** Outcome and the answers given. */
  outcome?: 'accept' | 'decline' | 'cancel';
  answers?: string[][];
};

const oneAnswer = z.union([
  z.string().max(limits.answerTextMax),
  z.array(z.string().max(limits.answerTextMax)).max(limits.elicitationChoices),
  z.null(),
]);

/**
 * For each question, in order or by its text, header or number from 0: an option's label, own words, or several of
 * them. Null, or nothing: no answer.
 */
export const givenAnswers = z.union([
  z.array(oneAnswer).max(limits.elicitationFields),
  z.record(z.string().max(limits.questionTextMax), oneAnswer).meta({ maxProperties: limits.elicitationFields }),
]);
export type GivenAnswers = z.infer<typeof givenAnswers>;

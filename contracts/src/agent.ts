import { z } from 'zod';
import { limits } from './limits.ts';

/** What an agent shows and asks while it works: its plan and its questions (contract.md section 11). */

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
};
export type AskedQuestions = { questionId: string; toolCallId: string; questions: Question[] };

const oneAnswer = z.union([
  z.string().max(limits.answerTextMax),
  z.array(z.string().max(limits.answerTextMax)).max(limits.questionOptionsMax + 1),
  z.null(),
]);

/**
 * For each question, in order or by its text, header or number from 0: an option's label, own words, or several of them. Null, or
 * nothing: no answer.
 */
export const givenAnswers = z.union([
  z.array(oneAnswer).max(limits.questionsMax),
  z
    .record(z.string().max(limits.questionTextMax), oneAnswer)
    .refine((answers) => Object.keys(answers).length <= limits.questionsMax, { message: 'Too many answers' }),
]);
export type GivenAnswers = z.infer<typeof givenAnswers>;

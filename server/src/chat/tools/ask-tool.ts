import type { GivenAnswers, Question } from '@homeport/contracts/chat/agent';
import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { z } from 'zod';
import { answerFault } from '../../mcp/connection/elicitation.ts';
import { isRecord } from '../model/stream/storable-text.ts';
import { defineTool, readInput } from './tool-input.ts';
import { type Tool, ToolFailure } from './tool-run.ts';

/** The tool `ask`: questions to the person, whose answers are its result (contract.md section 11). */

const description = `Asks the person one to four questions and waits for the answers. Use it when the work depends on a choice that only they can make.
Do not ask about things that you can find out or sensibly decide yourself. Ask related questions in one call.
Give each question two to four distinct options, with the recommended one first; the person can always answer in their own words.`;

const option = z.object({
  label: z.string().min(1).max(limits.optionLabelMax),
  description: z.string().max(limits.optionDescriptionMax).optional(),
});
const input = z.object({
  questions: z
    .array(
      z.object({
        header: z.string().max(limits.questionHeaderMax).optional().describe('The subject, in one or two words.'),
        question: z.string().min(1).max(limits.questionTextMax),
        options: z.array(option).max(limits.questionOptionsMax).optional(),
        multiple: z.boolean().optional().describe('True: the person can choose several options.'),
      }),
    )
    .min(1)
    .max(limits.questionsMax),
});

export const askTool: Tool = {
  ...defineTool({
    name: 'ask',
    description,
    input,
    run: () => Promise.reject(new ToolFailure('Questions cannot be asked here.')),
  }),
  questionsOf(given) {
    const { questions } = readInput(input, withLabels(given));
    return questions.map(({ header, question, options = [], multiple = false }) => ({
      ...(header === undefined ? {} : { header }),
      question,
      options,
      multiple,
    }));
  },
};

/** Many models give options as plain texts, and null for what they leave out. */
function withLabels(given: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(given.questions)) return given;
  const questions = given.questions.map((question: unknown) => {
    if (!isRecord(question)) return question;
    const known = Object.fromEntries(Object.entries(question).filter(([, value]) => value !== null));
    if (!Array.isArray(known.options)) return known;
    return { ...known, options: known.options.map((one: unknown) => (typeof one === 'string' ? { label: one } : one)) };
  });
  return { ...given, questions };
}

/** Returns the answers to each question. Throws `invalid_request` for answers that belong to none. */
export function readAnswers(questions: readonly Question[], given: GivenAnswers): string[][] {
  if (Array.isArray(given)) {
    if (given.length > questions.length) throw noSuchQuestion(String(questions.length));
    return fitting(
      questions,
      questions.map((_, index) => textsOf(given[index])),
    );
  }
  const names = questions.map(({ question, header }, index) => [question, header, String(index)]);
  const unknown = Object.keys(given).find((name) => !names.some((known) => known.includes(name)));
  if (unknown !== undefined) throw noSuchQuestion(unknown);
  return fitting(
    questions,
    names.map((known) => textsOf(known.map((name) => given[name ?? '']).find((answer) => answer !== undefined))),
  );
}

/** The same answers, if they are what an MCP server takes. */
function fitting(questions: readonly Question[], answers: string[][]): string[][] {
  const details = questions.flatMap((question, index) => {
    const message = answerFault(question, answers[index] ?? []);
    return message === undefined ? [] : [{ path: `answers.${index}`, message }];
  });
  const [first] = details;
  if (first === undefined) return answers;
  const where = questions[Number(first.path.slice('answers.'.length))]?.question ?? '';
  throw new ApiError('invalid_request', `${where}: ${first.message}`, { details });
}

function textsOf(answer: string | string[] | null | undefined): string[] {
  const texts = typeof answer === 'string' ? [answer] : (answer ?? []);
  return texts.map((text) => text.trim()).filter((text) => text !== '');
}

function noSuchQuestion(place: string): ApiError {
  const message = 'There is no such question';
  return new ApiError('invalid_request', `The request is not valid. answers.${place}: ${message}`, {
    details: [{ path: `answers.${place}`, message }],
  });
}

/** Result for the model. Without answers, the person sent a message instead. */
export function answered(questions: readonly Question[], answers: readonly string[][] | undefined): unknown {
  if (answers === undefined) return 'The person did not answer and sent a message instead. It follows.';
  return {
    answers: questions.map(({ question, multiple }, index) => {
      const chosen = answers[index] ?? [];
      const answer = chosen.length > 1 || (multiple && chosen.length > 0) ? chosen : (chosen[0] ?? '(no answer)');
      return { question, answer };
    }),
  };
}

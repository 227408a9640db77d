import type { Question, QuestionField } from '@homeport/contracts/chat/agent';
import { limits } from '@homeport/contracts/limits';
import { oneLine } from '@homeport/contracts/text/line';
import { mcpBounds } from '../bounds.ts';
import { isRecord } from '../tool-result.ts';

/**
 * Converts a server's questions to the person while a tool runs (MCP "elicitation") into our questions, and the answers
 * into the content that the server expects.
 */

export type Elicitation = { message: string; url?: string; questions: Question[] };
export type ElicitationAnswer =
  | { action: 'accept'; answers: readonly string[][] }
  | { action: 'decline' }
  | { action: 'cancel' };

/** The questions, or why the person is not asked them. */
export function readElicitation(params: unknown): Elicitation | { refused: string } {
  if (!isRecord(params)) return { refused: 'it cannot be read' };
  const message = textOf(params.message, limits.questionTextMax);
  if (params.mode === 'url') {
    const url = typeof params.url === 'string' && params.url.length <= limits.mcpUriMax ? params.url : '';
    const address = URL.parse(url);
    if (address?.protocol !== 'https:') return { refused: 'its address is not one of https' };
    // User info before an @ looks like the host.
    if (address.username !== '' || address.password !== '') return { refused: 'its address contains a sign-in' };
    return { message, url: address.href, questions: [] };
  }
  const schema = isRecord(params.requestedSchema) ? params.requestedSchema : {};
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length > limits.elicitationFields) return { refused: 'it asks for too much at once' };
  const required = Array.isArray(schema.required) ? schema.required : [];
  const questions: Question[] = [];
  for (const [name, property] of properties) {
    if (!isRecord(property)) return { refused: 'it cannot be read' };
    if (isSecret(name, property)) return { refused: 'it asks for a secret' };
    const question = readField(name, property, required.includes(name));
    if (question === undefined) return { refused: 'it asks for something unknown' };
    questions.push(withInitial(question, property.default));
  }
  // It stays in the conversation.
  if (JSON.stringify(questions).length > mcpBounds.elicitationText) return { refused: 'it asks for too much at once' };
  return { message, questions };
}

/** Passwords and the like have no place in a conversation. */
function isSecret(name: string, { format, writeOnly }: Record<string, unknown>): boolean {
  if (writeOnly === true || (typeof format === 'string' && /^(password|secret|credential)s?$/i.test(format)))
    return true;
  return /pass-?_?(word|phrase|wd)|secret|(api|access|private)[-_]?(key|token)/i.test(name.slice(0, 200));
}

function readField(name: string, property: Record<string, unknown>, required: boolean): Question | undefined {
  if (name === '' || name.length > limits.questionTextMax || name === '__proto__') return undefined;
  const question = textOf(property.title, limits.questionTextMax) || oneLine(name);
  const header = textOf(property.description, limits.optionDescriptionMax);
  const isList = property.type === 'array';
  const choices = choicesOf(isList && isRecord(property.items) ? property.items : property);
  if (choices !== undefined && choices.length > limits.elicitationChoices) return undefined;
  if (choices?.some(({ value }) => value.length > limits.questionTextMax)) return undefined;
  const common = { question, ...(header === '' ? {} : { about: header }), multiple: isList };
  const base = { name, required };
  if (choices !== undefined) {
    const options = choices.map(({ label }) => ({ label }));
    return { ...common, options, field: { ...base, type: 'choice', values: choices.map(({ value }) => value) } };
  }
  const { type } = property;
  if (type === 'boolean') {
    return { ...common, options: [{ label: 'Yes' }, { label: 'No' }], field: { ...base, type: 'boolean' } };
  }
  if (type !== 'string' && type !== 'number' && type !== 'integer') return undefined;
  const [min, max] =
    type === 'string' ? [property.minLength, property.maxLength] : [property.minimum, property.maximum];
  const bounds = { ...(typeof min === 'number' ? { min } : {}), ...(typeof max === 'number' ? { max } : {}) };
  return { ...common, options: [], field: { ...base, type: type === 'string' ? 'text' : type, ...bounds } };
}

/** The question with the server's default as its initial answer, if that is a valid one. */
function withInitial(question: Question, value: unknown): Question {
  const { field, options } = question;
  if (field === undefined || value === undefined || value === null) return question;
  const labelOf = (item: unknown): string => {
    if (field.type === 'boolean') return item === true ? 'Yes' : 'No';
    const index = typeof item === 'string' ? (field.values?.indexOf(item) ?? -1) : -1;
    return options[index]?.label ?? String(item).slice(0, limits.answerTextMax).toWellFormed();
  };
  const initial = (Array.isArray(value) ? value.slice(0, limits.elicitationChoices) : [value]).map(labelOf);
  if (initial.length === 0 || answerFault(question, initial) !== undefined) return question;
  return { ...question, field: { ...field, initial } };
}

type Choice = { value: string; label: string };

/** `enum`, with or without `enumNames`, and lists of `const` with titles; equal labels are made distinct. */
function choicesOf(property: Record<string, unknown>): Choice[] | undefined {
  const titled = property.oneOf ?? property.anyOf;
  const names = Array.isArray(property.enumNames) ? property.enumNames : [];
  const raw = Array.isArray(titled)
    ? titled.map((one) => (isRecord(one) ? [one.const, one.title] : []))
    : Array.isArray(property.enum)
      ? property.enum.map((value, index) => [value, names[index]])
      : undefined;
  if (raw === undefined) return undefined;
  const choices = raw.flatMap(([value, title]): Choice[] =>
    typeof value === 'string' ? [{ value, label: textOf(title, limits.optionLabelMax) || oneLine(value) }] : [],
  );
  const isUnclear = new Set(choices.map(({ label }) => label)).size < choices.length;
  return isUnclear ? choices.map(({ value }) => ({ value, label: value })) : choices;
}

/** Describes the fault of an answer to one field; undefined if it is valid. */
export function answerFault({ field, options }: Question, texts: readonly string[]): string | undefined {
  if (field === undefined) return undefined;
  if (texts.length === 0) return field.required ? 'An answer is needed' : undefined;
  if (options.length > 0) {
    return texts.every((text) => options.some(({ label }) => label === text)) ? undefined : 'Choose one of the options';
  }
  const [text = ''] = texts;
  if (texts.length > 1) return 'One answer is needed';
  if (field.type === 'text') return outside(text.length, field) ? 'Too short or too long' : undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || (field.type === 'integer' && !Number.isInteger(value))) return 'A number is needed';
  return outside(value, field) ? 'Too small or too large' : undefined;
}

function outside(value: number, { min, max }: QuestionField): boolean {
  return (min !== undefined && value < min) || (max !== undefined && value > max);
}

/**
 * The answers as the members that the server asked for. An empty answer is left out; fields that were not answered at
 * all have their default.
 */
export function contentOf(questions: readonly Question[], answers: readonly string[][]): Record<string, unknown> {
  const entries = questions.flatMap((question, index) => {
    const { field } = question;
    const texts = answers[index] ?? field?.initial ?? [];
    return field === undefined || texts.length === 0 ? [] : [[field.name, fieldValue(question, field, texts)] as const];
  });
  return Object.fromEntries(entries);
}

function fieldValue({ options, multiple }: Question, field: QuestionField, texts: readonly string[]): unknown {
  if (field.type === 'boolean') return texts[0] === 'Yes';
  if (field.type === 'number' || field.type === 'integer') return Number(texts[0]);
  if (field.type === 'text') return texts[0];
  const values = texts.map((text) => field.values?.[options.findIndex(({ label }) => label === text)] ?? text);
  return multiple ? values : values[0];
}

function textOf(value: unknown, max: number): string {
  return typeof value === 'string'
    ? oneLine(value.slice(0, max * 2))
        .slice(0, max)
        .toWellFormed()
    : '';
}

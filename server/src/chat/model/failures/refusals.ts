import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import { isOverflow } from '../fitting/limits.ts';
import type { ModelRequest } from '../protocol.ts';
import { isRefused, type ProviderDialect, parameterNames, refuse, type Setting } from '../provider-dialect.ts';
import { hasInstructions } from '../request-parts.ts';

/**
 * Settings that servers refuse and can do without, found in the text of a refusal, which is examined but never quoted.
 * Each lesson is learned once, so there are at most as many retries as lessons.
 */

/** A parameter's name in each protocol. */
const wireNames: Record<ProviderKind, Record<(typeof parameterNames)[number], RegExp | undefined>> = {
  openai: {
    topP: /\btop_p\b/,
    seed: /\bseed\b/,
    stop: /\bstop\b/,
    verbosity: /\bverbosity\b/,
    temperature: /\btemperature\b/,
    reasoningEffort: /\breasoning[_. ]?effort\b|\breasoning\b/,
  },
  'openai-responses': {
    topP: /\btop_p\b/,
    seed: undefined,
    stop: undefined,
    verbosity: /\bverbosity\b/,
    temperature: /\btemperature\b/,
    reasoningEffort: /\breasoning(?:[_.]effort)?\b/,
  },
  anthropic: {
    topP: /\btop_p\b/,
    seed: undefined,
    stop: /\bstop_sequences\b/,
    verbosity: undefined,
    temperature: /\btemperature\b/,
    reasoningEffort: /\b(?:thinking|budget_tokens|output_config|effort)\b/,
  },
  gemini: {
    topP: /\btop_?p\b/,
    seed: /\bseed\b/,
    stop: /\bstop_?sequences\b/,
    verbosity: undefined,
    temperature: /\btemperature\b/,
    reasoningEffort: /\bthinking/,
  },
};

const isAboutValue =
  /\bvalues?\b|\bbetween\b|\bless than\b|\bgreater than\b|\bat (?:most|least)\b|\bmust be\b|\bone of\b|[<>]=?\s?\d/;
const isAboutRole =
  /system (?:role|message|prompt|instruction)|\brole\b[^.]{0,40}\bsystem\b|\bsystem\b[^.]{0,40}\brole|roles must alternate|only user and (?:assistant|model)|developer instruction/;

const maxText = 16_000;
/** The words of servers that refuse every member they don't know. */
const hasUnknownMembers =
  /extra[_ ]forbidden|extra (?:inputs|fields)|(?:unknown|unrecognized|unexpected|unsupported|additional) (?:field|parameter|argument|property|properties|name|key|request argument)|unexpected keyword|invalid json payload/;

/** Learns all members that the refusal names: such servers often name only some, and every attempt costs one. */
function learnUnknownMembers(
  kind: ProviderKind,
  dialect: ProviderDialect,
  request: ModelRequest,
  text: string,
): boolean {
  const named = parameterNames.filter(
    (name) =>
      request.parameters?.[name] !== undefined && !isRefused(dialect, name) && wireNames[kind][name]?.test(text),
  );
  // Some servers accept only one of two parameters: theirs is another refusal.
  if (named.length < 2) return false;
  for (const name of named) refuse(dialect, name);
  return true;
}

/** Members that are not in every server's version of the protocol. */
const extensions = ['seed', 'verbosity', 'reasoningEffort', 'cacheKey'] as const;

/**
 * True if the refusal was of an unknown member: a server that refused two of them one by one also refuses the others
 * that not every server has, and a step has few attempts.
 */
export function learnStrictness(kind: ProviderKind, dialect: ProviderDialect, refusal: string, times: number): boolean {
  if (!hasUnknownMembers.test(refusal.slice(0, maxText).toLowerCase())) return false;
  if (kind !== 'openai' || times < 1) return true;
  for (const name of extensions) if (!isRefused(dialect, name)) refuse(dialect, name);
  dialect.streamOptions = false;
  return true;
}

const exactNames =
  /\b(?:reasoning_effort|reasoning\.effort|output_config|budget_tokens|thinking_?config|thinking_?budget|thinking_?level|temperature|top_?p|verbosity|seed)\b/;

/** True if the refusal names a parameter of the request that can be left out. */
export function namesParameter(
  kind: ProviderKind,
  dialect: ProviderDialect,
  { parameters }: ModelRequest,
  refusal: string,
): boolean {
  const text = exactNames.exec(refusal.slice(0, maxText).toLowerCase())?.[0];
  if (text === undefined) return false;
  return parameterNames.some(
    (name) =>
      parameters?.[name] !== undefined &&
      !isRefused(dialect, name, parameters[name]) &&
      wireNames[kind][name]?.test(text) === true,
  );
}

/** True if the refusal named something that can be left out or expressed differently; `dialect` is then changed. */
export function learnFrom(
  kind: ProviderKind,
  dialect: ProviderDialect,
  request: ModelRequest,
  refusal: string,
): boolean {
  const text = refusal.slice(0, maxText).toLowerCase();
  const isField = lessons[kind].learnField(dialect, refusal);
  const isStrict = hasUnknownMembers.test(text) && learnUnknownMembers(kind, dialect, request, text);
  if (isField || isStrict) return true;
  if (isOverflow(refusal)) return false;
  return (
    learnOwn(kind, dialect, request, text) ||
    learnParameter(kind, dialect, request, text) ||
    learnRole(kind, dialect, request, text)
  );
}

function learnField(dialect: ProviderDialect, refusal: string): boolean {
  if (dialect.maxTokensField === 'max_tokens' && refusal.includes('max_completion_tokens')) {
    dialect.maxTokensField = 'max_completion_tokens';
    return true;
  }
  if (dialect.streamOptions && refusal.includes('stream_options')) {
    dialect.streamOptions = false;
    return true;
  }
  return false;
}

type Lesson = { setting: Setting; named: RegExp };
type Learn = (dialect: ProviderDialect, text: string) => boolean;

type Lessons = {
  /** Settings that the protocol sends by default, without a user having set them. */
  settings: readonly Lesson[];
  /** Learns names of fields, from the unchanged text. */
  learnField: Learn;
  /** Learns that the server requires signatures of calls. */
  learnSignature: Learn;
  /** Learns that a model does not think; applies only to requests without an effort. */
  learnThoughtless: Learn;
  /** Learns how a model takes its effort: a level for some models, a token budget for others of the same vendor. */
  learnEffort: Learn;
  /** False for a protocol whose instructions are not a message. */
  hasSystemRole: boolean;
};

const nothingLearned: Learn = () => false;
const noLessons = {
  learnField: nothingLearned,
  learnSignature: nothingLearned,
  learnThoughtless: nothingLearned,
  learnEffort: nothingLearned,
  hasSystemRole: true,
};

const lessons: Record<ProviderKind, Lessons> = {
  openai: { ...noLessons, settings: [{ setting: 'cacheKey', named: /\bprompt_cache_key\b/ }], learnField },
  'openai-responses': {
    ...noLessons,
    settings: [
      { setting: 'cacheKey', named: /\bprompt_cache_key\b/ },
      { setting: 'encryptedReasoning', named: /\bencrypted[_ ]content\b|\binclude\b/ },
      { setting: 'reasoningSummary', named: /\breasoning[_. ]summar|\bsummary\b/ },
    ],
    learnThoughtless: (dialect, text) => /\breasoning\b/.test(text) && learnOnce(dialect, 'reasoningSummary'),
  },
  anthropic: {
    ...noLessons,
    settings: [{ setting: 'cacheMarks', named: /\bcache_control\b/ }],
    learnEffort: learnAnthropicEffort,
    hasSystemRole: false,
  },
  gemini: {
    ...noLessons,
    settings: [
      { setting: 'schemas', named: /\bparameters_?json_?schema\b/ },
      { setting: 'thoughts', named: /\binclude_?thoughts\b/ },
    ],
    learnSignature: learnGeminiSignature,
    learnThoughtless: (dialect, text) => /\bthinking\b/.test(text) && learnOnce(dialect, 'thoughts'),
    learnEffort: learnGeminiEffort,
  },
};

function learnOwn(kind: ProviderKind, dialect: ProviderDialect, request: ModelRequest, text: string): boolean {
  const { settings, learnSignature, learnThoughtless } = lessons[kind];
  const lesson = settings.find(({ setting, named }) => named.test(text) && !isRefused(dialect, setting));
  if (lesson !== undefined) {
    refuse(dialect, lesson.setting);
    return true;
  }
  if (learnSignature(dialect, text)) return true;
  const effort = request.parameters?.reasoningEffort;
  const isBare = effort === undefined || isRefused(dialect, 'reasoningEffort', effort);
  // Thoughts and their summaries are requested from every model, but some have none.
  return isBare && learnThoughtless(dialect, text);
}

function learnGeminiSignature(dialect: ProviderDialect, text: string): boolean {
  if (dialect.isSignatureNeeded || !/thought_?\s?signature/.test(text)) return false;
  dialect.isSignatureNeeded = true;
  return true;
}

function learnOnce(dialect: ProviderDialect, setting: Setting): boolean {
  if (isRefused(dialect, setting)) return false;
  refuse(dialect, setting);
  return true;
}

function learnParameter(kind: ProviderKind, dialect: ProviderDialect, request: ModelRequest, text: string): boolean {
  for (const name of parameterNames) {
    const value = request.parameters?.[name];
    const named = wireNames[kind][name];
    if (value === undefined || named?.test(text) !== true || isRefused(dialect, name, value)) continue;
    if (name === 'reasoningEffort' && dialect.effortAs === undefined) {
      if (lessons[kind].learnEffort(dialect, text)) return true;
    }
    if (isAboutValue.test(text)) refuse(dialect, name, value);
    else refuse(dialect, name);
    return true;
  }
  return false;
}

function learnAnthropicEffort(dialect: ProviderDialect, text: string): boolean {
  if (!/\badaptive\b|\boutput_config\b(?!\.effort)|extra inputs/.test(text)) return false;
  dialect.effortAs = 'budget';
  return true;
}

function learnGeminiEffort(dialect: ProviderDialect, text: string): boolean {
  const isLevel = /thinking_?level/.test(text);
  const isBudget = /thinking_?budget/.test(text);
  if (isLevel === isBudget) return false;
  dialect.effortAs = isLevel ? 'budget' : 'word';
  return true;
}

function learnRole(kind: ProviderKind, dialect: ProviderDialect, request: ModelRequest, text: string): boolean {
  if (!lessons[kind].hasSystemRole || !dialect.systemRole) return false;
  if (!hasInstructions(request) || !isAboutRole.test(text)) return false;
  dialect.systemRole = false;
  return true;
}

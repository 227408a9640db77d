import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { ModelRequest } from './protocol.ts';
import { isRefused, type ProviderDialect, parameterNames, refuse, type Setting } from './provider-dialect.ts';
import { isContextRefusal } from './provider-errors.ts';
import { hasInstructions } from './request-parts.ts';

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

/** True if the refusal named something that can be left out or expressed differently; `dialect` is then changed. */
export function learnFrom(
  kind: ProviderKind,
  dialect: ProviderDialect,
  request: ModelRequest,
  refusal: string,
): boolean {
  if (kind === 'openai' && learnField(dialect, refusal)) return true;
  if (isContextRefusal(refusal)) return false;
  const text = refusal.toLowerCase();
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

/** Settings that a protocol sends by default, without a user having set them. */
const own: Record<ProviderKind, readonly Lesson[]> = {
  openai: [{ setting: 'cacheKey', named: /\bprompt_cache_key\b/ }],
  'openai-responses': [
    { setting: 'cacheKey', named: /\bprompt_cache_key\b/ },
    { setting: 'encryptedReasoning', named: /\bencrypted[_ ]content\b|\binclude\b/ },
    { setting: 'reasoningSummary', named: /\breasoning[_. ]summar|\bsummary\b/ },
  ],
  anthropic: [{ setting: 'cacheMarks', named: /\bcache_control\b/ }],
  gemini: [
    { setting: 'schemas', named: /\bparameters_?json_?schema\b/ },
    { setting: 'thoughts', named: /\binclude_?thoughts\b/ },
  ],
};

function learnOwn(kind: ProviderKind, dialect: ProviderDialect, request: ModelRequest, text: string): boolean {
  const lesson = own[kind].find(({ setting, named }) => named.test(text) && !isRefused(dialect, setting));
  if (lesson !== undefined) {
    refuse(dialect, lesson.setting);
    return true;
  }
  if (kind === 'gemini' && !dialect.isSignatureNeeded && /thought_?\s?signature/.test(text)) {
    dialect.isSignatureNeeded = true;
    return true;
  }
  const effort = request.parameters?.reasoningEffort;
  const isBare = effort === undefined || isRefused(dialect, 'reasoningEffort', effort);
  if (!isBare) return false;
  // Thoughts and their summaries are requested from every model, but some have none.
  if (kind === 'gemini' && /\bthinking\b/.test(text)) return learnOnce(dialect, 'thoughts');
  return kind === 'openai-responses' && /\breasoning\b/.test(text) && learnOnce(dialect, 'reasoningSummary');
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
    if (name === 'reasoningEffort' && learnEffort(kind, dialect, text)) return true;
    if (isAboutValue.test(text)) refuse(dialect, name, value);
    else refuse(dialect, name);
    return true;
  }
  return false;
}

/** Effort is a level for some models and a token budget for others of the same vendor. */
function learnEffort(kind: ProviderKind, dialect: ProviderDialect, text: string): boolean {
  if (dialect.effortAs !== undefined) return false;
  if (kind === 'anthropic') {
    if (!/\badaptive\b|\boutput_config\b(?!\.effort)|extra inputs/.test(text)) return false;
    dialect.effortAs = 'budget';
    return true;
  }
  if (kind !== 'gemini') return false;
  const isLevel = /thinking_?level/.test(text);
  const isBudget = /thinking_?budget/.test(text);
  if (isLevel === isBudget) return false;
  dialect.effortAs = isLevel ? 'budget' : 'word';
  return true;
}

function learnRole(kind: ProviderKind, dialect: ProviderDialect, request: ModelRequest, text: string): boolean {
  if (kind === 'anthropic' || !dialect.systemRole || !hasInstructions(request) || !isAboutRole.test(text)) return false;
  dialect.systemRole = false;
  return true;
}

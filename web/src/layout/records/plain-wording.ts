import type { Failure } from '../../i18n/error-texts.ts';
import type { TextId } from '../../i18n/i18n.ts';

/** Reasons of `provider_error` that pass by themselves. */
const passing: ReadonlySet<string> = new Set(['overloaded', 'rate_limit']);
const passingProblems: ReadonlySet<string> = new Set(['timeout', 'internal', 'malformed_call']);
/** Reasons about the message or the conversation, which its author can change. */
const ofMessage: Readonly<Record<string, TextId>> = {
  content_filter: 'ask.filtered',
  context: 'ask.tooLong',
  images: 'ask.image',
  loading: 'ask.loading',
};

/**
 * The text of a failure for a person who manages no models: it tells to wait, to change the message, or whom to ask.
 * Undefined keeps the usual text. `canEditTools`: failures of tools keep their texts.
 */
export function plainTextOf({ code, details }: Failure, canEditTools: boolean): TextId | undefined {
  const reason = stringOf(details, 'reason');
  const problem = stringOf(memberOf(details, 'values'), 'problem') || stringOf(details, 'problem');
  switch (code) {
    case 'provider_error':
      if (ofMessage[reason] !== undefined) return ofMessage[reason];
      if (problem === 'size') return 'ask.tooLong';
      return passing.has(reason) || passingProblems.has(problem) ? 'ask.busy' : 'ask.broken';
    case 'provider_unreachable':
      return reason === 'timeout' || problem === 'response' ? 'ask.busy' : 'ask.broken';
    case 'model_unavailable':
      return 'ask.gone';
    case 'provider_settings_disabled':
      return 'ask.forbidden';
    case 'credentials_unreadable':
    case 'blocked_destination':
      return canEditTools ? undefined : 'ask.broken';
    case 'mcp_settings_disabled':
      return canEditTools ? undefined : 'ask.forbidden';
    default:
      return code.startsWith('mcp_unreachable') && !canEditTools ? 'ask.tool' : undefined;
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function stringOf(value: unknown, name: string): string {
  const member = memberOf(value, name);
  return typeof member === 'string' ? member : '';
}

import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';
import type { AnswerParser } from '../protocol.ts';
import { isRecord } from '../stream/storable-text.ts';
import { providerFailure } from './provider-errors.ts';

type Answered = ProviderKind | 'ollama';

/** Names of the protocols, as the settings show them. */
const names: Record<Answered, string> = {
  openai: 'OpenAI chat completions',
  'openai-responses': 'OpenAI Responses',
  anthropic: 'Anthropic Messages',
  gemini: 'Google Gemini',
  ollama: 'Ollama’s own API (its base URL for Homeport ends in /v1)',
};

const maxStartLength = 2_000;

/** The parser, with an error that names both protocols if the answer turns out to be in another one. */
export function expectProtocol(kind: ProviderKind, parser: AnswerParser): AnswerParser {
  let start = '';
  const check = (answered: Answered | undefined): void => {
    if (answered === undefined || answered === kind) return;
    throw providerFailure({
      status: 200,
      reason: 'protocol',
      values: { answered: names[answered], expected: names[kind] },
    });
  };
  return {
    feed(text) {
      if (start.length < maxStartLength) start += text.slice(0, maxStartLength);
      parser.feed(text);
    },
    flush: () => parser.flush(),
    readWhole(value) {
      check(protocolOf(value));
      parser.readWhole(value);
    },
    end() {
      const result = parser.end();
      if (result === undefined || isEmpty(result)) check(protocolOfEvents(start));
      return result;
    },
    get isDone() {
      return parser.isDone;
    },
    get hasFinish() {
      return parser.hasFinish;
    },
  };

  function isEmpty({ toolCalls, usage }: { toolCalls: unknown[]; usage: unknown }): boolean {
    return toolCalls.length === 0 && usage === undefined;
  }
}

function protocolOfEvents(start: string): Answered | undefined {
  if (/^event:[^\n]{0,10}\bresponse\./m.test(start) || /"type"\s?:\s?"response\./.test(start))
    return 'openai-responses';
  if (/"type"\s?:\s?"(?:message_start|content_block_start)"/.test(start)) return 'anthropic';
  if (/"object"\s?:\s?"chat\.completion/.test(start)) return 'openai';
  return /"candidates"\s?:\s?\[/.test(start) ? 'gemini' : undefined;
}

function protocolOf(value: unknown): Answered | undefined {
  if (Array.isArray(value)) return isRecord(value[0]) && Array.isArray(value[0].candidates) ? 'gemini' : undefined;
  if (!isRecord(value)) return undefined;
  if (value.object === 'response' && Array.isArray(value.output)) return 'openai-responses';
  if (Array.isArray(value.choices)) return 'openai';
  if (value.type === 'message' && Array.isArray(value.content)) return 'anthropic';
  if (Array.isArray(value.candidates)) return 'gemini';
  return isRecord(value.message) && typeof value.done === 'boolean' ? 'ollama' : undefined;
}

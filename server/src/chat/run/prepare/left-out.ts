import type { Parameters } from '@homeport/contracts/chat/parameters';
import type { LackingAbility } from '../../model/fitting/abilities.ts';
import type { OmittedTool } from '../../model/fitting/tools/tools.ts';
import type { Notice } from '../../tools/find-tools.ts';

/** Notices about tools, abilities and parameters that a model did not get: each once per conversation and process. */

const maxChats = 2_000;
const maxNames = 20;
const reported = new Map<string, Set<string>>();

const reasons: Record<OmittedTool['reason'], string> = {
  schema: 'The definitions of these tools can’t be used with this model, so it answered without them:',
  refused: 'The provider refused the definitions of these tools, so the model answered without them:',
  limit: 'The provider accepts only a limited number of tools. These were left out, as they were used least recently:',
};

const lackingTexts: Record<LackingAbility, Notice> = {
  tools: { code: 'tools_unsupported', message: 'This model doesn’t take tools, so it answered without them.' },
  images: { code: 'images_unsupported', message: 'This model doesn’t take pictures, so it answered without them.' },
};

const parameterNames: Record<keyof Parameters, string> = {
  temperature: 'temperature',
  topP: 'top-p',
  maxOutputTokens: 'max output tokens',
  reasoningEffort: 'reasoning effort',
  verbosity: 'verbosity',
  stop: 'stop sequences',
  seed: 'seed',
};

/** The notice about a parameter that a model does not take; undefined if the conversation has had it. */
export function parameterLeftOut(chatId: string, parameter: keyof Parameters): Notice | undefined {
  const known = knownOf(chatId);
  if (known.has(`parameter ${parameter}`)) return undefined;
  known.add(`parameter ${parameter}`);
  const message = `This model doesn’t support the setting “${parameterNames[parameter]}”. It answered without it.`;
  return { code: 'parameter_refused', message, details: { parameter } };
}

/** The notice about something that a model does not take; undefined if the conversation has had it. */
export function abilityLacking(chatId: string, ability: LackingAbility): Notice | undefined {
  const known = knownOf(chatId);
  if (known.has(`ability ${ability}`)) return undefined;
  known.add(`ability ${ability}`);
  return lackingTexts[ability];
}

/** The notice about tools that a model did not get; undefined if the conversation has had it for each of them. */
export function toolsLeftOut(chatId: string, tools: readonly OmittedTool[]): Notice | undefined {
  const known = knownOf(chatId);
  const news = tools.filter(({ name, reason }) => !known.has(`${reason} ${name}`));
  for (const { name, reason } of news) known.add(`${reason} ${name}`);
  const texts = Object.entries(reasons).flatMap(([reason, text]) => {
    const names = news.filter((tool) => tool.reason === reason).map(({ name }) => name);
    return names.length === 0 ? [] : [{ reason, message: `${text} ${listed(names)}.` }];
  });
  if (texts.length === 0) return undefined;
  const reason = texts.length === 1 ? texts[0]?.reason : undefined;
  const values = { names: listed(news.map(({ name }) => name)) };
  return { code: 'tools_left_out', message: texts.map(({ message }) => message).join(' '), reason, values };
}

function knownOf(chatId: string): Set<string> {
  const known = reported.get(chatId) ?? new Set();
  reported.delete(chatId);
  reported.set(chatId, known);
  const oldest = reported.keys().next();
  if (reported.size > maxChats && oldest.done !== true) reported.delete(oldest.value);
  return known;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).join(', ');
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more` : shown;
}

import 'virtual:texts/context';
import type { Parameters } from '@homeport/contracts/chat/parameters';
import { useText } from '../../i18n/i18n.ts';

const labels = {
  temperature: 'saw.parameter.temperature',
  topP: 'saw.parameter.topP',
  maxOutputTokens: 'saw.parameter.maxOutputTokens',
  reasoningEffort: 'saw.parameter.reasoningEffort',
  verbosity: 'saw.parameter.verbosity',
  stop: 'saw.parameter.stop',
  seed: 'saw.parameter.seed',
} as const satisfies Record<keyof Parameters, string>;

/** Text of the notice about a parameter that the model did not get. `message`: for answers that don't name it. */
export function ParameterNotice({ details, message }: { details: unknown; message: string }) {
  const t = useText();
  const name =
    typeof details === 'object' && details !== null && 'parameter' in details ? details.parameter : undefined;
  if (typeof name !== 'string' || !isParameter(name)) return message;
  return t('saw.parameterLeftOut', { name: t(labels[name]) });
}

function isParameter(name: string): name is keyof typeof labels {
  return Object.hasOwn(labels, name);
}

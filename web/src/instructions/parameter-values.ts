import type { Parameters } from '@homeport/contracts/chat/parameters';
import { limits } from '@homeport/contracts/limits';
import type { Translate } from '../i18n/i18n.ts';

type Effort = NonNullable<Parameters['reasoningEffort']>;
type Verbosity = NonNullable<Parameters['verbosity']>;

export const efforts = [
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] as const satisfies readonly Effort[];
export const verbosities = ['low', 'medium', 'high'] as const satisfies readonly Verbosity[];

/** Parameters as fields hold them: '' is not set. `stop` has one text a line. */
export type ParameterValues = {
  temperature: number | string;
  topP: number | string;
  maxOutputTokens: number | string;
  reasoningEffort: string;
  verbosity: string;
  stop: string;
  seed: number | string;
};

export function parameterValues(set: Parameters): ParameterValues {
  return {
    temperature: set.temperature ?? '',
    topP: set.topP ?? '',
    maxOutputTokens: set.maxOutputTokens ?? '',
    reasoningEffort: set.reasoningEffort ?? '',
    verbosity: set.verbosity ?? '',
    stop: (set.stop ?? []).map(asLine).join('\n'),
    seed: set.seed ?? '',
  };
}

/** Parses the fields into parameters; call it only if `parameterFaults` finds nothing. */
export function parametersOf(values: ParameterValues): Parameters {
  const effort = efforts.find((each) => each === values.reasoningEffort);
  const verbosity = verbosities.find((each) => each === values.verbosity);
  const stop = stopTexts(values.stop);
  return {
    ...numbered('temperature', values.temperature),
    ...numbered('topP', values.topP),
    ...numbered('maxOutputTokens', values.maxOutputTokens),
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(stop.length === 0 ? {} : { stop }),
    ...numbered('seed', values.seed),
  };
}

/** Faults by the name of the field. */
export function parameterFaults(values: ParameterValues, t: Translate): Record<keyof ParameterValues, string | null> {
  const stop = stopTexts(values.stop);
  const isStopBad = stop.length > limits.stopTextsMax || stop.some((text) => text.length > limits.stopTextMax);
  return {
    temperature: rangeFault(values.temperature, 2, t),
    topP: rangeFault(values.topP, 1, t),
    maxOutputTokens: wholeFault(values.maxOutputTokens, 1, limits.contextWindowMax)
      ? t('form.number', { max: limits.contextWindowMax })
      : null,
    reasoningEffort: null,
    verbosity: null,
    stop: isStopBad ? t('parameters.stopBad', { count: limits.stopTextsMax, max: limits.stopTextMax }) : null,
    seed: wholeFault(values.seed, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER) ? t('parameters.seedBad') : null,
  };
}

/** The same for a form that has the values under `parameters`. */
export function parameterFormFaults(values: ParameterValues, t: Translate): Record<string, string | null> {
  const faults = Object.entries(parameterFaults(values, t));
  return Object.fromEntries(faults.map(([name, fault]) => [`parameters.${name}`, fault]));
}

/** Error of each parameter field, from the errors of a form. */
export function parameterErrors<E>(errors: Record<string, E>): Partial<Record<keyof ParameterValues, E>> {
  const entries = Object.entries(errors).map(([path, error]) => [path.replace(/^parameters\./, ''), error] as const);
  return Object.fromEntries(entries);
}

export function countSet(values: ParameterValues): number {
  return Object.values(values).filter((value) => value !== '').length;
}

function numbered<K extends string>(name: K, value: number | string): { [P in K]?: number } {
  const entry: { [P in K]?: number } = {};
  if (typeof value === 'number') entry[name] = value;
  return entry;
}

function rangeFault(value: number | string, max: number, t: Translate): string | null {
  if (value === '' || (typeof value === 'number' && value >= 0 && value <= max)) return null;
  return t('parameters.range', { max });
}

function wholeFault(value: number | string, min: number, max: number): boolean {
  return value !== '' && !(typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max);
}

function stopTexts(text: string): string[] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [fromLine(line)]));
}

/** A line break within a text is written `\n`, a backslash twice. */
function asLine(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function fromLine(line: string): string {
  return line.replace(/\\([\\n])/g, (_, sign: string) => (sign === 'n' ? '\n' : '\\'));
}

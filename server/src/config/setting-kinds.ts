/**
 * One setting: what people read about it, and which values it accepts. The page, parsing and messages come from here.
 */
export type Setting<T> = {
  /** The environment variable; `<name>_FILE` may name a file with the value instead. */
  name: string;
  /** One or two sentences of Markdown for docs/settings.md. */
  about: string;
  /** Completes "it takes …". */
  takes: string;
  /** How docs/settings.md describes the default. */
  defaultText: string;
  /** The value is never shown, not even in the message that refuses it. */
  secret: boolean;
  /** The value when the setting is absent. */
  fallback: T;
  /** Undefined if the text is invalid. Called with trimmed, non-empty text. */
  parse(text: string): T | undefined;
  /** How to correct an invalid text; never shows a secret. */
  advise?(text: string): string | undefined;
};

type Facts = Pick<Setting<unknown>, 'about' | 'takes'>;

export function choice<const T extends string>(
  name: string,
  values: readonly T[],
  fallback: T,
  { about }: { about: string },
): Setting<T> {
  const parse = (text: string) => values.find((value) => value === text);
  return { name, about, takes: values.join(' | '), defaultText: `\`${fallback}\``, secret: false, fallback, parse };
}

export function flag(name: string, fallback: boolean, { about }: { about: string }): Setting<boolean> {
  const base = choice(name, ['true', 'false'], fallback ? 'true' : 'false', { about });
  return { ...base, fallback, parse: (text) => (base.parse(text) === undefined ? undefined : text === 'true') };
}

export function integer(
  name: string,
  fallback: number,
  least: number,
  most: number,
  { about }: { about: string },
): Setting<number> {
  const takes = `a whole number from ${least} to ${most}`;
  const parse = (text: string) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  };
  return { name, about, takes, defaultText: `\`${fallback}\``, secret: false, fallback, parse };
}

/** Processors, as Kubernetes and Docker write them: whole ones, decimals, or thousandths such as `500m`. */
export function processors(
  name: string,
  fallback: number,
  least: number,
  most: number,
  { about }: { about: string },
): Setting<number> {
  const takes = `a number from ${least} to ${most} such as 0.5, or thousandths such as 500m`;
  const parse = (text: string) => {
    const [, thousandths, decimal] = /^(?:(\d{1,6})m|(\d{1,3}(?:\.\d{1,3})?))$/.exec(text) ?? [];
    const value = thousandths === undefined ? Number(decimal) : Number(thousandths) / 1_000;
    return value >= least && value <= most ? value : undefined;
  };
  return { name, about, takes, defaultText: `\`${fallback}\``, secret: false, fallback, parse };
}

export function text(
  name: string,
  fallback: string,
  { valid = () => true, ...facts }: Facts & { valid?: (text: string) => boolean },
): Setting<string> {
  const parse = (given: string) => (valid(given) ? given : undefined);
  return { name, ...facts, defaultText: `\`${fallback}\``, secret: false, fallback, parse };
}

export function optional(
  name: string,
  facts: Facts & { defaultText?: string; secret?: boolean; valid?: (text: string) => boolean },
): Setting<string | undefined> {
  const { about, takes, defaultText = 'unset', secret = false, valid = () => true } = facts;
  const parse = (given: string) => (valid(given) ? given : undefined);
  return { name, about, takes, defaultText, secret, fallback: undefined, parse };
}

export function list(
  name: string,
  facts: Facts & { secret: boolean; valid: (entry: string) => boolean },
): Setting<readonly string[]> {
  const { about, takes, secret, valid } = facts;
  const parse = (given: string) => {
    const entries = given.split(',').map((entry) => entry.trim());
    const filled = entries.filter((entry) => entry !== '');
    return filled.every(valid) ? filled : undefined;
  };
  return { name, about, takes, defaultText: 'none', secret, fallback: [], parse };
}

import type { Config } from './config.ts';
import { usage } from './failure.ts';

/** One command as typed. */
export type Call = {
  config: Config;
  operands: readonly string[];
  flags: Flags;
  /** Aborted by Ctrl-C and similar signals. */
  signal: AbortSignal;
};

type Values = Readonly<Record<string, string | boolean | undefined>>;

/** The options of a call; commands.ts lists them. */
export class Flags {
  readonly #values: Values;

  constructor(values: Values) {
    this.#values = values;
  }

  isSet(name: string): boolean {
    return this.#values[name] === true;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** A whole number of at least 1. */
  number(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (!/^[1-9]\d{0,6}$/.test(value)) throw usage(`--${name} takes a number from 1`);
    return Number(value);
  }
}

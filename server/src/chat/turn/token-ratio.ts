import { estimateTokens } from '../../platform/text-tokens.ts';

/** Counts the tokens of a text exactly. */
export type CountTokens = (text: string) => number;

const sliceLength = 1000;
const maxSlices = 24;
const minSample = 50;

/**
 * The tokenizer, loaded when first needed: it takes a quarter of a second and some 75 MB of memory, so it stays out of
 * processes that do well without.
 */
export async function loadTokenizer(): Promise<CountTokens> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  return (text) => countTokens(text);
}

/**
 * Exact tokens per estimated token over a sample of the texts. The sample is bounded and its pieces are short, as the
 * tokenizer is slow on long runs of one character; it yields to the event loop between pieces.
 */
export async function sampleRatio(texts: readonly string[], count: CountTokens): Promise<number> {
  const slices = texts.flatMap((text) => cutSlices(text));
  const step = Math.max(1, slices.length / maxSlices);
  let exact = 0;
  let estimated = 0;
  for (let at = 0; at < slices.length; at += step) {
    const slice = slices[Math.floor(at)] ?? '';
    exact += count(slice);
    estimated += estimateTokens(slice);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return estimated === 0 ? 1 : clamp(exact / estimated, 0.5, 3);
}

/**
 * Learns from the token counts of earlier answers. Ignores answers whose count includes thinking that was not reported
 * separately (far more tokens than their text can have).
 */
export function createUsageRatio() {
  let counted = 0;
  let estimated = 0;
  return {
    add(answer: { outputTokens: number; reasoningTokens?: number }, estimate: number): void {
      const textTokens = answer.outputTokens - (answer.reasoningTokens ?? 0);
      if (estimate < minSample || textTokens < estimate * 0.5 || textTokens > estimate * 2) return;
      counted += textTokens;
      estimated += estimate;
    },
    /** Undefined until an answer taught something. */
    get value(): number | undefined {
      return estimated === 0 ? undefined : counted / estimated;
    },
  };
}

function cutSlices(text: string): string[] {
  const slices: string[] = [];
  const step = Math.max(sliceLength, Math.ceil(text.length / maxSlices));
  for (let at = 0; at < text.length; at += step) slices.push(text.slice(at, at + sliceLength));
  return slices;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

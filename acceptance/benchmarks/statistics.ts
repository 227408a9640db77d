/** Median; NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Slope of the least-squares line through `points`. */
export function slope(points: readonly (readonly [number, number])[]): number {
  const count = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const variance = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return covariance / variance;
}

const bucketsPerMs = 20;
const largestMs = 20_000;

/** Milliseconds in buckets of 0.05 ms: constant memory and almost no work per value, however many there are. */
export class Histogram {
  readonly #buckets = new Uint32Array(largestMs * bucketsPerMs + 1);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  reset(): void {
    this.#buckets.fill(0);
    this.#count = 0;
  }

  add(ms: number): void {
    const index = Math.min(this.#buckets.length - 1, Math.max(0, Math.floor(ms * bucketsPerMs)));
    this.#buckets[index] = (this.#buckets[index] ?? 0) + 1;
    this.#count++;
  }

  /** Quantile in milliseconds: `fraction` of the values are at most this; NaN for an empty list. */
  percentile(fraction: number): number {
    const wanted = Math.ceil(this.#count * fraction);
    let seen = 0;
    for (let index = 0; index < this.#buckets.length && this.#count > 0; index++) {
      seen += this.#buckets[index] ?? 0;
      if (seen >= wanted) return (index + 0.5) / bucketsPerMs;
    }
    return Number.NaN;
  }
}

/** The value that this share of the others does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

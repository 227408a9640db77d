import { createHash } from 'node:crypto';
import { ApiError } from '@homeport/contracts/errors';
import type { ImageType } from '@homeport/contracts/files/image-bytes';
import { z } from 'zod';
import { FairTurns } from '../../platform/concurrency/fair-turns.ts';
import type { Platform } from '../../platform.ts';
import { ParseFailure } from '../../sandbox/child.ts';
import { ParseRefused, type Sandbox } from '../../sandbox/sandbox.ts';
import { type PictureType, readPictureHead } from './picture-head.ts';
import { withoutMetadata } from './picture-metadata.ts';
import type { PictureInput } from './picture-task.ts';

/** The largest file that is made smaller, and the largest that a model gets as it is. */
export const pictureSourceMax = 32 * 1024 * 1024;
export const pictureMax = 5 * 1024 * 1024;
/**
 * The longest side. Providers scale larger pictures down themselves, or refuse them: Anthropic above 2,000 pixels in
 * requests with more than 20 pictures, and above 8,000 always.
 */
const longestSide = 2_000;
const refusedSide = 8_000;

/** One at a time: a picture of 50 million pixels takes most of a gigabyte. */
const turnLimits = { atOnce: 1, waiting: 200, waitMs: 60_000, busy: 'Too many pictures are waiting to be converted.' };
const mebibyte = 1024 * 1024;
const jobLimits = { heapMb: 512, memoryBytes: 1_280 * mebibyte, stepMs: 30_000, cpuMs: 30_000 };
const cacheMax = 16 * mebibyte;

/** A picture as a model gets it, or the reason why not, which completes "is not included: …". */
export type ModelPicture = { mediaType: ImageType; bytes: Buffer } | { reason: string };
export type PictureSource = { type: PictureType; bytes: Buffer; sha256?: string };

const answer = z.object({ jpeg: z.instanceof(Uint8Array).refine(({ length }) => length <= pictureMax) });
const refusal = z.object({ pixels: z.string().max(100) });

/**
 * Prepares pictures for models: upright, in a format and size that they take, and without metadata. A child process
 * converts the pictures that need it; the newest results are kept in memory, since each turn sends them again.
 */
export class Pictures {
  readonly #sandbox: Sandbox;
  readonly #log: Platform['log'];
  readonly #turns = new FairTurns(turnLimits);
  readonly #kept = new Map<string, ModelPicture>();
  #keptBytes = 0;

  constructor({ sandbox, log }: { sandbox: Sandbox; log: Platform['log'] }) {
    this.#sandbox = sandbox;
    this.#log = log;
  }

  /** The result for this content if it was converted before. */
  recall(sha256: string): ModelPicture | undefined {
    const known = this.#kept.get(sha256);
    if (known === undefined) return undefined;
    this.#kept.delete(sha256);
    this.#kept.set(sha256, known);
    return known;
  }

  /** Rejects with the signal's reason only. */
  async forModel({ type, bytes, sha256 }: PictureSource, userId: string, signal: AbortSignal): Promise<ModelPicture> {
    const taken = isTaken(type) ? type : undefined;
    const head = taken === undefined ? unknownHead : readPictureHead(taken, bytes);
    const side = Math.max(head.width, head.height);
    const isFit = head.orientation === 1 && side <= longestSide && bytes.length <= pictureMax;
    if (taken !== undefined && isFit) return plain(taken, bytes);
    const key = sha256 ?? createHash('sha256').update(bytes).digest('hex');
    const known = this.recall(key);
    if (known !== undefined) return known;
    const converted = await this.#convert({ bytes, type, ...head, longest: longestSide }, userId, signal);
    if (converted === undefined) return this.#asItIs(taken, bytes, side, { reason: 'it cannot be converted now' });
    const result = 'reason' in converted ? this.#asItIs(taken, bytes, side, converted) : converted;
    this.#keep(key, result);
    return result;
  }

  /** The unconverted picture where models take it. */
  #asItIs(type: ImageType | undefined, bytes: Buffer, side: number, otherwise: { reason: string }): ModelPicture {
    if (type !== undefined && bytes.length <= pictureMax && side <= refusedSide) return plain(type, bytes);
    return bytes.length > pictureMax && otherwise.reason === damaged
      ? { reason: `it is larger than ${pictureMax} bytes` }
      : otherwise;
  }

  /** Undefined after a failure of another cause than the picture: a later attempt can succeed. */
  async #convert(input: PictureInput, userId: string, signal: AbortSignal): Promise<ModelPicture | undefined> {
    try {
      return await this.#turns.take({ lane: userId, isKnown: true, signal }, async () => {
        const job = await this.#sandbox.open('picture', input, { limits: jobLimits, signal });
        await job.close();
        const { jpeg } = answer.parse(job.opened);
        return { mediaType: 'image/jpeg' as const, bytes: Buffer.from(jpeg) };
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ParseRefused) return { reason: reasonOf(error.data) };
      if (error instanceof ParseFailure && error.reason !== 'interrupted') return { reason: failures[error.reason] };
      if (error instanceof z.ZodError) return { reason: damaged };
      const isBusy = error instanceof ApiError && error.code === 'rate_limited';
      if (!isBusy) this.#log.warn({ cause: error }, 'failed to convert a picture');
      return undefined;
    }
  }

  #keep(key: string, result: ModelPicture): void {
    const size = sizeOf(result);
    this.#kept.set(key, result);
    this.#keptBytes += size;
    for (const [oldest, each] of this.#kept) {
      if (this.#keptBytes <= cacheMax) break;
      this.#kept.delete(oldest);
      this.#keptBytes -= sizeOf(each);
    }
  }
}

const unknownHead = { width: 0, height: 0, orientation: 1 };
const damaged = 'the picture is damaged, or has an unusual format. Save it as JPEG or PNG';
const tooLarge = 'converting the picture takes too much memory. Save a smaller one';
const failures = {
  memory: tooLarge,
  time: 'converting the picture takes too long. Save a smaller one',
  failed: damaged,
  crashed: damaged,
} as const;

function reasonOf(data: unknown): string {
  const { success, data: known } = refusal.safeParse(data);
  if (!success || known.pixels === '') return damaged;
  return `it has ${known.pixels}. Save it with at most ${longestSide} pixels a side`;
}

function isTaken(type: PictureType): type is ImageType {
  return type === 'image/png' || type === 'image/jpeg' || type === 'image/gif' || type === 'image/webp';
}

function plain(mediaType: ImageType, bytes: Buffer): ModelPicture {
  return { mediaType, bytes: withoutMetadata(mediaType, bytes) };
}

/** Counts what else is kept beside the bytes. */
function sizeOf(picture: ModelPicture): number {
  return 500 + ('bytes' in picture ? picture.bytes.length : 0);
}

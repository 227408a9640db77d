import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { z } from 'zod';
import { FairTurns } from '../platform/concurrency/fair-turns.ts';
import { type JobLimits, ParseFailure } from '../sandbox/child.ts';
import { ParseRefused, type Sandbox } from '../sandbox/sandbox.ts';
import { packageOf, refusedSkill, SkillBounds, type SkillPackage } from './skill-package.ts';

const jobLimits: JobLimits = { heapMb: 512, memoryBytes: 1024 * 1024 * 1024, stepMs: 20_000, cpuMs: 20_000 };
const turns = new FairTurns({
  atOnce: 2,
  perLane: 1,
  waiting: 100,
  waitMs: 60_000,
  busy: 'Too many skills are being read right now. Try again in a moment.',
});

const filesAnswer = z.array(z.object({ path: z.string(), content: z.instanceof(Uint8Array) })).max(limits.skillFiles);

/**
 * Reads an uploaded skill in a child process. Throws `invalid_request` with what is to be changed, and `rate_limited`.
 */
export async function readSkillInSandbox(
  sandbox: Sandbox,
  bytes: Buffer,
  who: { userId: string; signal: AbortSignal },
): Promise<SkillPackage> {
  const opened = await turns.take({ lane: who.userId, isKnown: true, signal: who.signal }, () =>
    read(sandbox, bytes, who.signal),
  );
  const { data: files = [] } = filesAnswer.safeParse(opened);
  const bounds = new SkillBounds();
  const found = new Map<string, Buffer>();
  for (const { path, content } of files) {
    // Copied here: the process that read the archive can be under the archive's control.
    if (bounds.admits(path, content.length)) found.set(path, Buffer.from(content));
  }
  return packageOf(found);
}

async function read(sandbox: Sandbox, bytes: Buffer, signal: AbortSignal): Promise<unknown> {
  try {
    const job = await sandbox.open('skill', { bytes }, { limits: jobLimits, signal });
    await job.close();
    return job.opened;
  } catch (error) {
    if (error instanceof ParseRefused) throw refusedSkill(String(error.data).slice(0, 1_000));
    if (!(error instanceof ParseFailure) || error.reason === 'interrupted') throw error;
    if (error.reason === 'time' || error.reason === 'memory') {
      throw refusedSkill('Reading the archive takes too much time or memory.', error);
    }
    throw new ApiError('invalid_request', 'The archive is damaged. Zip the folder again.', { cause: error });
  }
}

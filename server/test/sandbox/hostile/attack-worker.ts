import { parentPort, workerData } from 'node:worker_threads';
import { makeAttacks } from './attacks.ts';

/** Makes the files in a thread of its own: the garbage of gigabytes would be collected in turns that the test measures. */
const { folder, count, seed }: { folder: string; count: number; seed: number } = workerData;
parentPort?.postMessage(await makeAttacks(folder, count, seed));

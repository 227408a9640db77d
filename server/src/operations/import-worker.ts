import { parentPort, workerData } from 'node:worker_threads';
import { openArchive } from './archive.ts';
import { nameFiles } from './file-types.ts';
import type { ImportWorkerInput, ImportWorkerMessage } from './import-reader.ts';
import { prepare } from './prepare.ts';
import { readArchive } from './readers/read-archive.ts';
import { ImportRefused } from './readers/read-conversation.ts';

/** The thread that reads one archive: one item each time it is asked. */

const port = parentPort;
if (port === null) throw new Error('import-worker.ts runs as a worker thread');
const { path, ownerId, email } = workerData as ImportWorkerInput;
const answer = (message: ImportWorkerMessage): void => port.postMessage(message);

async function* read() {
  const archive = await openArchive(path);
  try {
    for await (const item of readArchive(archive, email)) yield prepare(await nameFiles(item, archive), ownerId);
  } finally {
    archive.close();
  }
}

const items = read();
port.on('message', async () => {
  try {
    const { done, value } = await items.next();
    answer(done === true ? { end: true } : { item: value });
  } catch (error) {
    if (error instanceof ImportRefused) answer({ refused: error.message });
    else throw error;
  }
});

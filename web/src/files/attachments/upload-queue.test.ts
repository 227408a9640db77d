import assert from 'node:assert/strict';
import test from 'node:test';
import type { Artifact } from '@homeport/contracts/files/artifacts';
import { UploadQueue } from './upload-queue.ts';

type Pending = { file: File; resolve: () => void; reject: (error: Error) => void; progress: (share: number) => void };

function queueOf() {
  const pending: Pending[] = [];
  const done: string[] = [];
  const queue = new UploadQueue<Artifact>({
    upload: (file, { onProgress, signal }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        const artifact = { id: file.name } as Artifact;
        pending.push({ file, resolve: () => resolve(artifact), reject, progress: onProgress });
      }),
    onDone: ({ id }) => void done.push(id),
    refuse: (file) => (file.size > 10 ? 'too-large' : undefined),
  });
  return { queue, pending, done };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const file = (name: string, size = 1) => new File(['x'.repeat(size)], name);

test('runs three uploads at once and removes completed ones', async () => {
  const { queue, pending, done } = queueOf();
  queue.add(['a', 'b', 'c', 'd'].map((name) => file(name)));
  assert.deepEqual(
    queue.getView().map(({ state }) => state),
    ['uploading', 'uploading', 'uploading', 'waiting'],
  );
  pending[1]?.progress(0.5);
  assert.equal(queue.getView()[1]?.share, 0.5);
  pending[1]?.resolve();
  await settled();
  assert.deepEqual(done, ['b']);
  assert.deepEqual(
    queue.getView().map(({ name, state }) => `${name} ${state}`),
    ['a uploading', 'c uploading', 'd uploading'],
  );
});

test('keeps failed uploads for a retry, and removes canceled ones with their request', async () => {
  const { queue, pending, done } = queueOf();
  queue.add([file('a'), file('b')]);
  pending[0]?.reject(new Error('no'));
  await settled();
  const [failed, other] = queue.getView();
  assert.equal(failed?.state, 'failed');
  queue.retry(failed?.key ?? '');
  assert.equal(pending.length, 3);
  queue.remove(other?.key ?? '');
  pending[2]?.resolve();
  await settled();
  assert.deepEqual(done, ['a']);
  assert.deepEqual(queue.getView(), []);
  assert.equal(queue.isBusy, false);
});

test('rejects a file that is too large and continues with the next one', () => {
  const { queue, pending } = queueOf();
  queue.add([file('large', 11), file('small')]);
  assert.deepEqual(
    pending.map((each) => each.file.name),
    ['small'],
  );
  assert.equal(queue.getView()[0]?.state, 'refused');
});

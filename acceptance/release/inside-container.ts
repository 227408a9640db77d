import { test } from 'node:test';
import { startProvider } from '../product.ts';
import { workAt } from './installed.ts';

/**
 * Runs in a container without a network, where its service is reached; acceptance/docker/release-image.test.ts starts
 * it.
 */

test('sets up the installation and gets an answer', async () => {
  const provider = await startProvider();
  await workAt('http://127.0.0.1:3000', provider.url);
  provider.kill('SIGKILL');
});

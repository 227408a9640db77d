import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Identity, prepareHosts, startHost, whyNotAs } from './local/host-process.ts';
import { assertNoEffects } from './read-only-inside.ts';

for (const identity of ['root', 'ordinary user'] as Identity[]) {
  const reason = whyNotAs(identity);
  describe(`sandboxes as ${identity}`, { skip: reason ?? false }, () => {
    test('none of 200 commands has an effect without approval, and reading works', async () => {
      const hosts = await prepareHosts(identity);
      const host = await startHost({ identity, ...hosts });
      const of = { id: 'alice', generation: 1 };
      try {
        await host.ask({ ask: 'start', ...of, slot: 1 });
        await assertNoEffects(
          {
            run: (command) => host.exec('alice', command),
            read: (command) => host.exec('alice', command, 1, true),
            background: async (command) => {
              const { status } = (await host.ask({ ask: 'background', ...of, command })) as { status: number };
              assert.equal(status, 200);
            },
          },
          '/opt/homeport/bin/node',
        );
      } finally {
        await host.ask({ ask: 'stop', id: 'alice', graceMs: 0 }).catch(() => undefined);
        await host.ask({ ask: 'close' }).catch(() => undefined);
        await host.kill();
        await hosts.destroy();
      }
    });
  });
}

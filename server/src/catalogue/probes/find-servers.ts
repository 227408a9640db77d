import type { FoundServer } from '@homeport/contracts/catalogue/catalogue';
import { localServers } from '@homeport/contracts/catalogue/local-servers';
import type { Egress } from '../../egress/egress.ts';
import { parseForeignJson } from '../../platform/json/json-scan.ts';
import { listedModels } from './model-list.ts';
import { TestLanes } from './test-lanes.ts';

/**
 * Looks for model servers at their usual ports on this machine: eight requests at most, through the outbound guard.
 * Takes no address from the caller, so it cannot be used to scan a network.
 */

/** This machine, and the one that a container runs on. */
const hosts = ['localhost', 'host.docker.internal'];
const bounds = { totalMs: 3_000, bodyBytes: 1024 * 1024, models: 10_000 } as const;

const lanes = new TestLanes(1);

/** `allowed` is false when the outbound guard blocks such addresses here. */
export function findLocalServers(
  deps: { egress: Pick<Egress, 'request'>; config: { allowPrivateEgress: boolean; allowInsecureHttp: boolean } },
  owner: string,
  signal: AbortSignal,
): Promise<{ allowed: boolean; servers: FoundServer[] }> {
  const { allowPrivateEgress, allowInsecureHttp } = deps.config;
  if (!allowPrivateEgress || !allowInsecureHttp) return Promise.resolve({ allowed: false, servers: [] });
  return lanes.run(owner, signal, async () => {
    const asked = localServers.map(async (server) => {
      const answers = await Promise.all(hosts.map((host) => askServer(deps, host, server, signal)));
      return answers.find((found) => found !== undefined);
    });
    const found = await Promise.all(asked);
    return { allowed: true, servers: found.filter((server) => server !== undefined) };
  });
}

/** Undefined if nothing answers there with a list of models. */
async function askServer(
  deps: { egress: Pick<Egress, 'request'> },
  host: string,
  { name, port }: (typeof localServers)[number],
  signal: AbortSignal,
): Promise<FoundServer | undefined> {
  const baseUrl = `http://${host}:${port}/v1`;
  try {
    const { status, body } = await deps.egress.request(`${baseUrl}/models`, {
      headers: { accept: 'application/json' },
      signal,
      totalTimeoutMs: bounds.totalMs,
      maxRedirects: 0,
      maxResponseBytes: bounds.bodyBytes,
    });
    try {
      // A server that wants a key is found as well.
      if (status === 401) return { name, baseUrl, models: 0, needsKey: true };
      if (status !== 200) return undefined;
      const models = await listedModels('openai', parseForeignJson(await body.text(bounds.bodyBytes)), bounds.models);
      return models && { name, baseUrl, models: models.length, needsKey: false };
    } finally {
      body.destroy();
    }
  } catch {
    return undefined;
  }
}

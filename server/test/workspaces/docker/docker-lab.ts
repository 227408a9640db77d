import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ExecEvent, execEvent } from '@homeport/contracts/workspace/daemon';
import Docker from 'dockerode';
import type { Config } from '../../../src/config/config.ts';
import { parseDockerHost } from '../../../src/config/setting-values.ts';
import { createEgress } from '../../../src/egress/egress.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import type { Daemon } from '../../../src/workspaces/daemon.ts';
import { createDaemon } from '../../../src/workspaces/daemon-client.ts';
import type { RuntimeHost, WorkspaceRuntime } from '../../../src/workspaces/runtime.ts';
import { openDockerRuntime } from '../../../src/workspaces/runtimes/docker/docker-runtime.ts';
import { newWorkspaceToken, sha256 } from '../../../src/workspaces/tokens.ts';
import { testConfig } from '../../app.ts';

/** Tests against a real engine: scripts/test/test-docker.mjs starts one and passes its address. */
export const engineHost = process.env.HOMEPORT_TEST_DOCKER_HOST ?? '';
const image = process.env.HOMEPORT_TEST_DOCKER_IMAGE ?? '';

type Ended = { exitCode: number | null; timedOut: boolean; stdout: string; stderr: string };
export type Started = {
  id: string;
  generation: number;
  token: string;
  workspaceToken: string;
  daemon: Daemon;
  run(command: string, timeoutMs?: number): Promise<Ended>;
  /** Without a right to write or to connect. */
  read(command: string): Promise<Ended>;
};

export class DockerLab {
  readonly folder: string;
  readonly config: Config;
  readonly engine: Docker;
  runtime: WorkspaceRuntime;
  readonly #ids = new Set<string>();
  #generations = 0;

  private constructor(folder: string, config: Config, engine: Docker, runtime: WorkspaceRuntime) {
    this.folder = folder;
    this.config = config;
    this.engine = engine;
    this.runtime = runtime;
  }

  static async open(changes: Partial<Config> = {}): Promise<DockerLab> {
    const address = parseDockerHost(engineHost);
    assert.ok(address !== undefined && image !== '', 'run node scripts/test/test-docker.mjs');
    const folder = await mkdtemp(join(tmpdir(), 'homeport-docker-'));
    const config = {
      ...testConfig,
      dataDir: folder,
      workspaceDockerHost: engineHost,
      workspaceImage: image,
      ...changes,
    };
    return new DockerLab(folder, config, new Docker(address), await openDockerRuntime(hostOf(config)));
  }

  /** A workspace that other code starts here ends with the others. */
  adopt(id: string): void {
    this.#ids.add(id);
  }

  /** As when another process takes over. */
  async restart(): Promise<void> {
    await this.runtime.close();
    this.runtime = await openDockerRuntime(hostOf(this.config));
  }

  open(changes: Partial<Config>): Promise<WorkspaceRuntime> {
    return openDockerRuntime(hostOf({ ...this.config, ...changes }));
  }

  async start(id: string): Promise<Started> {
    this.#generations += 1;
    this.#ids.add(id);
    const token = newWorkspaceToken();
    const workspaceToken = newWorkspaceToken();
    const generation = this.#generations;
    const wanted = { id, generation, slot: 1, daemonTokenHash: sha256(token), workspaceToken };
    await this.runtime.start(wanted, AbortSignal.timeout(300_000));
    const daemon = createDaemon({ address: () => this.runtime.dial(id), token, healthMs: 5_000 });
    const run = (command: string, timeoutMs = 20_000) => runCommand(daemon, command, { timeoutMs });
    const read = (command: string) => runCommand(daemon, command, { timeoutMs: 20_000, readOnly: true });
    return { id, generation, token, workspaceToken, daemon, run, read };
  }

  container(id: string) {
    return this.engine.getContainer(`homeport-workspace-${id}`);
  }

  /** Ends everything and deletes the homes too. */
  async close(): Promise<void> {
    for (const id of this.#ids) {
      await this.runtime.stop(id, 0);
      await this.engine
        .getVolume(`homeport-home-${id}`)
        .remove()
        .catch(() => undefined);
    }
    await this.runtime.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

let ids = 0;
/** Different from those of every other run at the same engine. */
export function newId(): string {
  ids += 1;
  return `test-${process.pid}-${Date.now().toString(36)}-${ids}`;
}

function hostOf(config: Config): RuntimeHost {
  return {
    config,
    log: createLogger('silent'),
    egress: createEgress(config),
    disk: { level: 'ample', freeBytes: 0, onLook: () => undefined },
    findUserId: async () => undefined,
    serve: (_request, response) => void response.writeHead(418).end(),
  };
}

let commands = 0;
async function runCommand(
  daemon: Daemon,
  command: string,
  how: { timeoutMs: number; readOnly?: boolean },
): Promise<Ended> {
  commands += 1;
  const json = JSON.stringify({ id: `lab-${commands}`, command, ...how });
  const headers = { 'content-type': 'application/json' };
  const answer = await daemon.request('/v1/exec', { method: 'POST', headers, body: json });
  const events = parseEvents(Buffer.concat(await answer.body.toArray()).toString('utf8'));
  const textOf = (type: 'stdout' | 'stderr') => events.map((event) => (event.type === type ? event.data : '')).join('');
  const exit = events.find((event) => event.type === 'exit');
  assert.ok(exit !== undefined, `it has no end: ${answer.status}`);
  return { exitCode: exit.exitCode, timedOut: exit.timedOut, stdout: textOf('stdout'), stderr: textOf('stderr') };
}

function parseEvents(text: string): ExecEvent[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => execEvent.parse(JSON.parse(line)));
}

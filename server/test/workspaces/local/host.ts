// A control plane with only its `local` runtime, as a process of its own: it can belong to another user, and be killed.
import { createHash } from 'node:crypto';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { daemonUpgrade } from '../../../src/egress/daemon-request.ts';
import type { Egress } from '../../../src/egress/egress.ts';
import type { DiskLevel } from '../../../src/platform/disk-space.ts';
import { createDaemon } from '../../../src/workspaces/daemon-client.ts';
import { RuntimeFailure, type WorkspaceRuntime } from '../../../src/workspaces/runtime.ts';
import { openLocalRuntime } from '../../../src/workspaces/runtimes/local/local-runtime.ts';
import { LocalWorkspaces } from '../../../src/workspaces/runtimes/local/local-workspaces.ts';
import { testConfig } from '../../app.ts';

export type HostRequest =
  | { ask: 'start'; id: string; generation: number; slot: number; abortAfterMs?: number }
  | { ask: 'stop'; id: string; graceMs: number }
  | { ask: 'status'; id: string }
  | { ask: 'list' }
  | { ask: 'warnings' }
  | { ask: 'close' }
  | { ask: 'disk'; level: DiskLevel }
  | { ask: 'measure' }
  | { ask: 'health'; id: string; token: string }
  | { ask: 'ports'; id: string; generation: number; port: number | undefined }
  | { ask: 'exec' | 'background'; id: string; generation: number; command: string; readOnly?: boolean };

let commands = 0;
const warnings: string[] = [];
const looks: ((level: DiskLevel) => Promise<void>)[] = [];
const disk = {
  level: 'ample' as DiskLevel,
  freeBytes: 0,
  onLook: (listener: (typeof looks)[number]) => looks.push(listener),
};

/** The tokens that this host gives a workspace; the tests search the places where they must not be. */
export function tokensOf(id: string, generation: number): { daemon: string; workspace: string } {
  const of = (kind: string): string => createHash('sha256').update(`${kind} ${id} ${generation}`).digest('base64url');
  return { daemon: of('daemon'), workspace: `wst_${of('workspace')}` };
}

async function answer(runtime: WorkspaceRuntime, request: HostRequest): Promise<unknown> {
  switch (request.ask) {
    case 'start': {
      const { id, generation, slot } = request;
      const { daemon, workspace } = tokensOf(id, generation);
      const daemonTokenHash = createHash('sha256').update(daemon).digest('hex');
      const wanted = { id, generation, slot, daemonTokenHash, workspaceToken: workspace };
      return runtime.start(wanted, AbortSignal.timeout(request.abortAfterMs ?? 300_000));
    }
    case 'stop':
      return runtime.stop(request.id, request.graceMs);
    case 'status':
      return runtime.status(request.id);
    case 'list':
      return runtime.list();
    case 'warnings':
      return warnings;
    case 'close':
      return runtime.close();
    case 'measure':
      return runtime instanceof LocalWorkspaces ? runtime.measure() : undefined;
    case 'disk':
      disk.level = request.level;
      return Promise.all(looks.map((look) => look(request.level)));
    case 'health':
      return call(runtime, request.id, request.token, '/v1/health', undefined);
    case 'ports': {
      const { daemon } = tokensOf(request.id, request.generation);
      if (request.port === undefined) return call(runtime, request.id, daemon, '/v1/ports', undefined);
      const headers = { authorization: `Bearer ${daemon}` };
      const path = `/v1/tunnel?port=${request.port}`;
      const tunnel = await daemonUpgrade(await runtime.dial(request.id), path, { headers });
      if (!(tunnel instanceof Duplex)) return { status: tunnel.status, text: await text(tunnel.body) };
      tunnel.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
      return { status: 101, text: await text(tunnel) };
    }
    case 'exec':
    case 'background': {
      const id = `c${process.pid}-${commands++}`;
      const body = JSON.stringify({
        id,
        command: request.command,
        timeoutMs: 120_000,
        background: request.ask === 'background',
        readOnly: request.readOnly ?? false,
      });
      const { daemon } = tokensOf(request.id, request.generation);
      return call(runtime, request.id, daemon, '/v1/exec', body);
    }
  }
}

async function call(runtime: WorkspaceRuntime, id: string, token: string, path: string, body: string | undefined) {
  const answered = () => runtime.answered?.(id);
  const daemon = createDaemon({ address: () => runtime.dial(id), token, healthMs: 5_000, answered });
  const headers = { 'content-type': 'application/json' };
  const response = await daemon.request(path, body === undefined ? {} : { method: 'POST', headers, body });
  return { status: response.status, text: await text(response.body) };
}

async function main(): Promise<void> {
  const [dataDir = '', memoryMb = '512', processes = '128', diskMb = '0', files = '0'] = process.argv.slice(2);
  const tokens = new Map(
    ['alice', 'bob'].flatMap((id) => [1, 2, 3].map((generation) => [tokensOf(id, generation).workspace, id] as const)),
  );
  const config = {
    dataDir,
    workspaceMemoryMb: Number(memoryMb),
    workspaceProcesses: Number(processes),
    workspaceDiskMb: Number(diskMb),
    workspaceFiles: Number(files),
  };
  const runtime = await openLocalRuntime({
    config: { ...testConfig, allowInsecureHttp: true, allowPrivateEgress: true, ...config },
    log: pino({ level: 'warn' }, { write: (line) => warnings.push(line) }),
    // The runtime's proxy has a guard of its own.
    egress: {} as Egress,
    disk,
    findUserId: async (token) => tokens.get(token),
    serve: (request, response) => void response.end(`control plane: ${request.url}`),
  });
  process.send?.({ ready: true });
  process.on('message', ({ number, request }: { number: number; request: HostRequest }) => {
    answer(runtime, request).then(
      (value) => process.send?.({ number, value }),
      (error: Error) => process.send?.({ number, error: error.message, isFailure: error instanceof RuntimeFailure }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}

if (process.argv[1] === import.meta.filename) {
  await main().catch((error: Error) => {
    process.send?.({ failed: error.message });
    process.exitCode = 1;
    process.disconnect();
  });
}

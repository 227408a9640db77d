import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pino from 'pino';
import { createEgress } from '../../../src/egress/egress.ts';
import type { RuntimeHost, WorkspaceRuntime } from '../../../src/workspaces/runtime.ts';
import { openKubernetesRuntime } from '../../../src/workspaces/runtimes/kubernetes/kubernetes-runtime.ts';
import { type Json, startTestApp, type TestApp, testConfig } from '../../app.ts';
import { type KubernetesApi, startKubernetesApi } from '../../fakes/kubernetes-api.ts';
import { expectEchoApp, PreviewBrowser, startEchoApp } from '../preview-browser.ts';

/**
 * The Kubernetes runtime with a real daemon at the address of the pod; scripts/test/test-kubernetes.mjs does the same in a
 * real cluster.
 */

/** Another run at the same time uses another one. */
const podIp = `127.73.${(process.pid >> 8) & 255}.${process.pid & 255}`;
const daemonMain = join(import.meta.dirname, '../../../../workspace/src/daemon/main.ts');
const egress = createEgress({ allowPrivateEgress: false, allowInsecureHttp: false });
const host: Omit<RuntimeHost, 'config'> = {
  egress,
  log: pino({ level: 'silent' }),
  disk: { level: 'ample', freeBytes: 0, onLook: () => undefined },
  findUserId: async () => undefined,
  serve: (_request, response) => void response.end(),
};
let folder: string;
let api: KubernetesApi;
let runtime: WorkspaceRuntime;
let app: TestApp;
const pods: ChildProcess[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hp-pods-'));
  api = await startKubernetesApi();
  process.env.KUBECONFIG = api.kubeconfig;
  api.podStatus = { phase: 'Pending' };
  api.onPod = (set, pod) => void runPod(set, pod);
  const config = { ...testConfig, workspaceControlUrl: 'http://127.0.0.1:3001', workspacePort: 0 };
  runtime = await openKubernetesRuntime({ ...host, config });
  app = await startTestApp({ workspaceRuntime: runtime });
});
after(async () => {
  delete process.env.KUBECONFIG;
  await app?.stop();
  for (const pod of pods) pod.kill('SIGKILL');
  await runtime?.close();
  egress.close();
  await api.close();
  await rm(folder, { recursive: true, force: true });
});

/** Plays a node: runs the daemon with the variables of the template and the files of the Secret. */
async function runPod(set: Json, pod: Json): Promise<void> {
  const [container] = set.spec.template.spec.containers;
  const { value: generation } = container.env.find(({ name }: Json) => name === 'HOMEPORT_GENERATION');
  const { data } = api.objects.get(`secrets/${set.metadata.name}`);
  const fileOf = async (name: string) => {
    const path = join(folder, name);
    await writeFile(path, Buffer.from(data[`${name}-${generation}`], 'base64'));
    return path;
  };
  const given = Object.fromEntries(container.env.map(({ name, value }: Json) => [name, value]));
  const env = {
    ...given,
    HOMEPORT_HOME: folder,
    HOMEPORT_LISTEN: given.HOMEPORT_LISTEN.replace('$(POD_IP)', podIp),
    HOMEPORT_DAEMON_HASH_FILE: await fileOf('daemon-hash'),
    HOMEPORT_TOKEN_FILE: await fileOf('token'),
    HOMEPORT_READY_FD: '3',
    PATH: process.env.PATH,
  };
  const child = spawn(process.execPath, [daemonMain], { env, stdio: ['ignore', 'ignore', 'inherit', 'pipe'] });
  pods.push(child);
  child.stdio[3]?.once('data', () => {
    pod.status = { phase: 'Running', podIP: podIp, containerStatuses: [{ name: 'workspace', state: { running: {} } }] };
  });
}

test('previews an app in a pod: requests and WebSockets reach it through the daemon', async () => {
  const user = await app.signIn();
  const started = await user.call('POST /api/workspace/status');
  assert.equal(started.status, 200, started.text);
  await startEchoApp(app, user);
  await expectEchoApp(new PreviewBrowser(() => app.url), user);
});

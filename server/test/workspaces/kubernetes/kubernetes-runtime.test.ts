import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import pino from 'pino';
import { until } from '../../../../contracts/test/until.ts';
import type { Config } from '../../../src/config/config.ts';
import { createEgress } from '../../../src/egress/egress.ts';
import {
  RuntimeFailure,
  type RuntimeHost,
  type StartedWorkspace,
  type WorkspaceRuntime,
} from '../../../src/workspaces/runtime.ts';
import { openKubernetesRuntime } from '../../../src/workspaces/runtimes/kubernetes/kubernetes-runtime.ts';
import { openListener } from '../../../src/workspaces/runtimes/kubernetes/listener.ts';
import { podName, workspaceName } from '../../../src/workspaces/runtimes/kubernetes/names.ts';
import { type Json, testConfig } from '../../app.ts';
import { type KubernetesApi, runningPod, startKubernetesApi } from '../../fakes/kubernetes-api.ts';

/** The runtime against a fake API; scripts/test/test-kubernetes.mjs uses a real one. */

const id = 'somebody';
const set = `statefulsets/${workspaceName('homeport', id)}`;
const pod = `pods/${podName('homeport', id)}`;
const secret = `secrets/${workspaceName('homeport', id)}`;
const never = new AbortController().signal;

let api: KubernetesApi;
const opened: WorkspaceRuntime[] = [];
const egress = createEgress({ allowPrivateEgress: false, allowInsecureHttp: false });

const host: Omit<RuntimeHost, 'config'> = {
  log: pino({ level: 'silent' }),
  egress,
  disk: { level: 'ample', freeBytes: 0, onLook: () => undefined },
  findUserId: async (token) => (token === 'wst_good' ? id : undefined),
  serve: (request, response) => response.end(`served ${request.url}`),
};

// As in the product: the guard under the built-in fetch must not block the connection to the cluster.
before(() => egress.installGlobally());
after(() => egress.close());
beforeEach(async () => {
  api = await startKubernetesApi();
  process.env.KUBECONFIG = api.kubeconfig;
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((runtime) => runtime.close()));
  await api.close();
});

async function open(config: Partial<Config> = {}): Promise<WorkspaceRuntime> {
  const runtime = await openKubernetesRuntime({
    ...host,
    config: { ...testConfig, workspaceControlUrl: 'http://127.0.0.1:3001', workspacePort: 0, ...config },
  });
  opened.push(runtime);
  return runtime;
}

const life = (generation: number): StartedWorkspace => ({
  id,
  generation,
  slot: 1,
  daemonTokenHash: 'ab'.repeat(32),
  workspaceToken: `wst_${generation}`,
});

const failsWith = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof RuntimeFailure, String(error));
  assert.match(error.message, pattern);
  return true;
};

test('a start writes the objects of a workspace, its StatefulSet last, and a later process finds it', async () => {
  const runtime = await open();
  assert.deepEqual(await runtime.status(id), { phase: 'stopped', generation: undefined, detail: undefined });
  await runtime.start(life(1), never);
  const name = workspaceName('homeport', id);
  assert.equal(api.writes.at(-1), `PATCH statefulsets/${name}`);
  assert.deepEqual(api.writes.slice(0, -1).sort(), [
    'PATCH networkpolicies/homeport-workspaces',
    `PATCH secrets/${name}`,
    'PATCH services/homeport-workspaces',
    `POST persistentvolumeclaims/${name}`,
  ]);
  const later = await open();
  assert.deepEqual(await later.list(), [{ id, generation: 1 }]);
  assert.equal((await later.status(id)).phase, 'running');
  assert.deepEqual(await later.dial(id), { host: '127.0.0.1', port: 7337 });
  const before = api.writes.length;
  await later.start(life(1), never);
  assert.equal(api.writes.length, before, 'the same generation is left as it is');
});

test('a new generation ends the previous one first; only the new one has new tokens, and the home stays', async () => {
  const runtime = await open();
  await runtime.start(life(1), never);
  const firstPod = api.objects.get(pod);
  await runtime.start(life(2), never);
  assert.notEqual(api.objects.get(pod).metadata.uid, firstPod.metadata.uid);
  assert.deepEqual(Object.keys(api.objects.get(secret).data), ['daemon-hash-2', 'token-2']);
  assert.equal(api.writes.filter((write) => write.startsWith('POST persistentvolumeclaims')).length, 1);
  assert.deepEqual(await runtime.list(), [{ id, generation: 2 }]);
});

test('reports a workspace as stopped as soon as it is unwanted though its pod lingers, and a stop waits until nothing runs', async () => {
  const runtime = await open();
  await runtime.stop(id, 0);
  await runtime.start(life(1), never);
  api.linger = true;
  let isOver = false;
  const stopped = runtime.stop(id, 0).then(() => {
    isOver = true;
  });
  await until(() => api.objects.get(pod).metadata.deletionTimestamp !== undefined);
  assert.deepEqual(await runtime.status(id), { phase: 'stopped', generation: 1, detail: undefined });
  assert.deepEqual(await runtime.list(), []);
  await assert.rejects(runtime.dial(id), failsWith(/does not run/));
  assert.equal(isOver, false);
  api.objects.get(pod).status = { containerStatuses: [{ state: { terminated: { exitCode: 0 } } }] };
  await stopped;
});

test('a start waits until the previous pod is gone, and reports that', async () => {
  const runtime = await open();
  await runtime.start(life(1), never);
  api.linger = true;
  api.objects.get(pod).status = { containerStatuses: [{ state: { terminated: { exitCode: 0 } } }] };
  await runtime.stop(id, 0);
  const started = runtime.start(life(2), never);
  await until(() => api.objects.get(set).spec.replicas === 1);
  assert.deepEqual(await runtime.status(id), {
    phase: 'starting',
    generation: 2,
    detail: 'Waiting for its last pod to end',
  });
  const { labels } = api.objects.get(set).spec.template.metadata;
  api.objects.set(pod, { metadata: { labels }, status: runningPod });
  await started;
});

const waits: Json = {
  ErrImagePull: /^Its image cannot be pulled: no such host$/,
  ImagePullBackOff: /^Its image cannot be pulled/,
  InvalidImageName: /^The name of its image is not valid/,
  CreateContainerConfigError: /^Its container cannot be set up: no such host$/,
  RunContainerError: /^Its container cannot be started/,
};
for (const [reason, pattern] of Object.entries<RegExp>(waits)) {
  test(`${reason} fails a start immediately, with a reason`, async () => {
    const runtime = await open();
    api.podStatus = { containerStatuses: [{ state: { waiting: { reason, message: 'no\n such   host' } } }] };
    await assert.rejects(runtime.start(life(1), never), failsWith(pattern));
    assert.equal(api.objects.get(set).spec.replicas, 0);
  });
}

test('fails a start whose container crashes repeatedly, and reports one that ran out of memory', async () => {
  const runtime = await open();
  const waiting = { reason: 'CrashLoopBackOff' };
  const state = { waiting };
  api.podStatus = { containerStatuses: [{ state, lastState: { terminated: { exitCode: 3, reason: 'Error' } } }] };
  await assert.rejects(runtime.start(life(1), never), failsWith(/^It crashes right after it starts: exit code 3$/));
  const killed = { terminated: { exitCode: 137, reason: 'OOMKilled' } };
  api.podStatus = { ...runningPod, containerStatuses: [{ state: { running: {} }, lastState: killed }] };
  await runtime.start(life(2), never);
  assert.equal((await runtime.status(id)).detail, 'It was restarted: it ran out of memory');
});

test('reports the reason of a waiting start in plain words', async () => {
  const runtime = await open();
  const unscheduled = (message: string) => ({
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
  });
  api.podStatus = unscheduled('0/3 nodes are available: 3 Insufficient memory.');
  const abort = new AbortController();
  const started = runtime.start(life(1), abort.signal);
  await until(() => api.objects.has(pod));
  const detail = async () => (await runtime.status(id)).detail;
  assert.equal(await detail(), 'Unschedulable: 0/3 nodes are available: 3 Insufficient memory.');
  const becomes = (status: Json) => {
    api.objects.get(pod).status = status;
  };
  becomes(unscheduled('pod has unbound immediate PersistentVolumeClaims'));
  assert.match((await detail()) ?? '', /^Waiting for a volume: pod has unbound/);
  becomes({ containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }] });
  assert.equal(await detail(), 'Preparing its container');
  const { name, uid } = api.objects.get(pod).metadata;
  const event = (at: number, reason: string, message: string, about: Json = { name, uid }) =>
    api.objects.set(`events/${at}`, {
      metadata: {},
      reason,
      message,
      involvedObject: about,
      lastTimestamp: `2026-01-01T00:00:0${at}Z`,
    });
  event(2, 'Pulling', 'Pulling image "x"');
  event(1, 'Scheduled', 'Assigned');
  assert.equal(await detail(), 'Pulling the image');
  event(3, 'FailedMount', 'MountVolume failed');
  assert.equal(await detail(), 'Waiting for a volume: MountVolume failed');
  api.objects.delete(pod);
  event(4, 'FailedCreate', 'exceeded quota', { name: workspaceName('homeport', id), kind: 'StatefulSet' });
  assert.equal(await detail(), 'The cluster refuses its pod: exceeded quota');
  abort.abort(new Error('too late'));
  await assert.rejects(started, /too late/);
  assert.equal(api.objects.get(set).spec.replicas, 0, 'what was begun is ended');
});

test('lists every running workspace over many pages, and none of another installation', async () => {
  const runtime = await open();
  const other = await open({ workspaceInstallation: 'other' });
  const ids = ['a', 'b/ü', 'c', 'd', 'e'];
  for (const each of ids) await runtime.start({ ...life(4), id: each }, never);
  await other.start({ ...life(1), id: 'foreign' }, never);
  await runtime.stop('c', 0);
  const listed = (await runtime.list()).map((each) => `${each.id} ${each.generation}`).sort();
  assert.deepEqual(listed, ['a 4', 'b/ü 4', 'd 4', 'e 4']);
  assert.deepEqual(await other.list(), [{ id: 'foreign', generation: 1 }]);
});

test('immediately refuses a configuration that cannot work with the reason, and changes nothing', async () => {
  api.denied.add('patch statefulsets').add('list events');
  await assert.rejects(
    open(),
    failsWith(/in the namespace people it lacks permission to patch statefulsets, list events: .*Role/),
  );
  api.denied.clear();
  await assert.rejects(open({ workspaceControlUrl: undefined }), failsWith(/WORKSPACE_CONTROL_URL is not set/));
  await assert.rejects(
    open({ workspaceControlUrl: 'http://nowhere.invalid' }),
    failsWith(/nowhere\.invalid, is not known/),
  );
  await assert.rejects(open({ workspaceNamespace: 'elsewhere' }), failsWith(/no namespace elsewhere/));
  api.broken = { status: 401, body: 'go away' };
  await assert.rejects(open(), failsWith(/does not accept our credentials/));
  api.broken = { status: 200, body: '<html>' };
  await assert.rejects(open(), failsWith(/does not answer/));
  process.env.KUBECONFIG = '/nonexistent/kubeconfig';
  await assert.rejects(open(), failsWith(/kubeconfig cannot be read/));
  delete process.env.KUBECONFIG;
  const home = process.env.HOME;
  process.env.HOME = '/nonexistent';
  await assert.rejects(open(), failsWith(/no cluster: run it in a pod, or set KUBECONFIG/));
  process.env.HOME = home;
  assert.deepEqual(api.writes, []);
});

test('a cluster that disconnects is a failure with a reason, not a crash', async () => {
  const runtime = await open();
  await runtime.start(life(1), never);
  api.broken = { status: 503, body: 'etcd is away' };
  await assert.rejects(runtime.status(id), failsWith(/the cluster refuses: etcd is away/));
  await assert.rejects(runtime.list(), failsWith(/etcd is away/));
  await assert.rejects(runtime.stop(id, 0), failsWith(/etcd is away/));
});

test('pods reach the control plane and, with their token only, the proxy at one port', async () => {
  const listen = (config: Partial<Config>) => openListener({ ...host, config: { ...testConfig, ...config } });
  const ask = (port: number, request: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(request));
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });
  const tunnel = (token: string) =>
    `CONNECT 127.0.0.1:443 HTTP/1.1\r\nhost: x\r\nproxy-authorization: Bearer ${token}\r\nconnection: close\r\n\r\n`;
  const both = await listen({ workspaceEgress: 'proxy' });
  const own = 'GET /api/internal/x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
  assert.match(await ask(both.port, own), /served \/api\/internal\/x/);
  const page = 'GET /api/setup HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
  assert.match(await ask(both.port, page), /^HTTP\/1\.1 404[\s\S]*internal only/);
  assert.match(await ask(both.port, tunnel('wst_bad')), /^HTTP\/1\.1 407/);
  assert.match(await ask(both.port, tunnel('wst_good')), /^HTTP\/1\.1 403/, 'the guard refuses this machine');
  const crowd = Array.from({ length: 193 }, () => connect(both.port, '127.0.0.1'));
  for (const socket of crowd) socket.on('error', () => undefined);
  await once(crowd[192] as Socket, 'close');
  for (const socket of crowd) socket.destroy();
  await both.close();
  const none = await listen({ workspaceEgress: 'none' });
  assert.equal(await ask(none.port, tunnel('wst_good')), '');
  assert.match(await ask(none.port, own), /served/);
  await none.close();
});

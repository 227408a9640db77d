// Tests the kubernetes runtime on a real cluster (docs/operations.md, "Workspaces in Kubernetes"). KUBECONFIG names an
// administrator of it, WORKSPACE_IMAGE an image that its nodes have, TEST_CONTROL_HOST an address here that pods reach.
// It works in its own namespace with the rights of the chart's Role; without a ready node, it skips the tests that need
// one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import pino from 'pino';
import { loadConfig } from '../../server/src/config/config.ts';
import { daemonRequest } from '../../server/src/egress/daemon-request.ts';
import { tunnelRequest } from '../../server/src/egress/outbound-proxy/tunnel-request.ts';
import { createDaemon } from '../../server/src/workspaces/daemon-client.ts';
import { openKubernetesRuntime } from '../../server/src/workspaces/runtimes/kubernetes/kubernetes-runtime.ts';
import { workspaceName } from '../../server/src/workspaces/runtimes/kubernetes/names.ts';
import { neededVerbs } from '../../server/src/workspaces/runtimes/kubernetes/probe.ts';

const rounds = Number(process.env.TEST_ROUNDS ?? 7);
const atOnce = 10;
const namespace = process.env.TEST_NAMESPACE ?? `homeport-test-${randomBytes(3).toString('hex')}`;
const installation = 'homeport';
const never = new AbortController().signal;
const sha256 = (value) => createHash('sha256').update(value).digest('hex');

const folder = process.env.TEST_FOLDER ?? (await mkdtemp(join(tmpdir(), 'hp-kubernetes-')));
const controlHost = process.env.TEST_CONTROL_HOST ?? ownAddress();

function ownAddress() {
  const found = Object.values(networkInterfaces())
    .flat()
    .find((address) => address.family === 'IPv4' && !address.internal);
  return found?.address ?? '127.0.0.1';
}

function config(settings = {}) {
  return loadConfig({
    DATA_DIR: folder,
    WORKSPACE_MODE: 'kubernetes',
    WORKSPACE_NAMESPACE: namespace,
    WORKSPACE_STORAGE_SIZE: '1Gi',
    WORKSPACE_MEMORY_MB: '512',
    WORKSPACE_IMAGE: process.env.WORKSPACE_IMAGE ?? 'homeport-workspace:latest',
    WORKSPACE_PORT: '3001',
    WORKSPACE_CONTROL_URL: `http://${controlHost}:3001`,
    ...settings,
  });
}

let lastToken = '';
const open = (settings = {}) =>
  openKubernetesRuntime({
    config: config(settings),
    log: pino({ level: 'silent' }),
    findUserId: async (token) => (token === lastToken ? 'somebody' : undefined),
    serve: (incoming, response) => response.end(`served ${incoming.headers.authorization ?? ''}`),
  });

const daemonToken = (id, generation) => sha256(`token of ${id} ${generation}`);
const life = (id, generation) => ({
  id,
  generation,
  slot: 1,
  daemonTokenHash: sha256(daemonToken(id, generation)),
  workspaceToken: `wst_${sha256(id).slice(0, 10)}_${generation}`,
});

// A process that starts a workspace and dies, for the adoption below.
if (process.argv[2] === 'start-and-wait') {
  const runtime = await open();
  await runtime.start(life(process.argv[3], 1), never);
  console.log('started');
  await delay(60_000);
  process.exit(1);
}

const admin = new KubeConfig();
admin.loadFromDefault();

async function api(method, path, body, who = admin, type = 'application/json') {
  const options = {};
  await who.applyToHTTPSOptions(options);
  const outgoing = request(new URL(path, who.getCurrentCluster().server), {
    ...options,
    agent: false,
    method,
    headers: { ...options.headers, accept: 'application/json', 'content-type': type },
  });
  outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = await once(outgoing, 'response');
  return { status: answer.statusCode, body: JSON.parse(await text(answer)) };
}

async function must(...request) {
  const { status, body } = await api(...request);
  assert.ok(status < 300, `${request[0]} ${request[1]}: ${status} ${body.message}`);
  return body;
}

const inNamespace = (path, group = 'api/v1') => `/${group}/namespaces/${namespace}/${path}`;

/** A service account with the chart's Role, and a kubeconfig for the runtime. */
async function prepare() {
  await must('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await must('POST', inNamespace('serviceaccounts'), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'homeport' },
  });
  const rbac = 'apis/rbac.authorization.k8s.io/v1';
  const rules = neededVerbs.map(([resource, verbs]) => {
    const [version, plural] = resource.split(' ');
    return { apiGroups: [version.includes('/') ? version.split('/')[0] : ''], resources: [plural], verbs };
  });
  const metadata = { name: 'homeport' };
  const head = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata };
  await must('POST', inNamespace('roles', rbac), { ...head, kind: 'Role', rules });
  await must('POST', inNamespace('rolebindings', rbac), {
    ...head,
    kind: 'RoleBinding',
    subjects: [{ kind: 'ServiceAccount', name: 'homeport', namespace }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'homeport' },
  });
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 7200 } };
  const { status } = await must('POST', inNamespace('serviceaccounts/homeport/token'), asked);
  const own = new KubeConfig();
  own.loadFromClusterAndUser(admin.getCurrentCluster(), { name: 'homeport', token: status.token });
  const file = join(folder, 'kubeconfig');
  await writeFile(file, own.exportConfig(), { mode: 0o600 });
  process.env.KUBECONFIG = file;
  return own;
}

const results = { passed: 0, failed: 0 };
const figures = [];

async function step(name, run) {
  const startedAt = performance.now();
  try {
    await run();
    results.passed += 1;
    console.log(`ok    ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
  } catch (error) {
    results.failed += 1;
    console.log(`FAIL  ${name}\n      ${error.stack ?? error}`);
  }
}

async function timed(run) {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

function figure(name, times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (part) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] / 1000).toFixed(2);
  figures.push(`${name}: p50 ${at(0.5)} s, max ${at(1)} s (${sorted.length})`);
}

const objectOf = (plural, id, group = 'api/v1') =>
  must('GET', inNamespace(`${plural}/${workspaceName(installation, id)}`, group));
const setOf = (id) => objectOf('statefulsets', id, 'apis/apps/v1');

async function call(runtime, id, generation, path, init = {}) {
  const headers = { ...init.headers, authorization: `Bearer ${daemonToken(id, generation)}` };
  const answer = await daemonRequest(await runtime.dial(id), path, { ...init, headers });
  return { status: answer.status, text: await text(answer.body) };
}

/** Starts a workspace and waits until its daemon answers with its token. */
async function ready(runtime, id, generation) {
  lastToken = life(id, generation).workspaceToken;
  await runtime.start(life(id, generation), AbortSignal.timeout(90_000));
  for (;;) {
    const answer = await call(runtime, id, generation, '/v1/health').catch(() => undefined);
    if (answer?.status === 200) return;
    await delay(20);
  }
}

async function shell(runtime, id, generation, command) {
  const body = JSON.stringify({ id: randomUUID(), command, timeoutMs: 30_000 });
  const headers = { 'content-type': 'application/json' };
  const answer = await call(runtime, id, generation, '/v1/exec', { method: 'POST', headers, body });
  assert.equal(answer.status, 200, answer.text);
  const events = answer.text.split('\n').filter((line) => line !== '');
  return events
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === 'stdout' || type === 'stderr')
    .map(({ data }) => data)
    .join('');
}

async function apiPart(own) {
  const runtime = await open();
  await step('applies five objects with the Role alone', async () => {
    const abort = new AbortController();
    const started = runtime.start(life('api', 1), abort.signal).catch(() => undefined);
    for (;;) {
      const { status } = await api(
        'GET',
        inNamespace(`statefulsets/${workspaceName(installation, 'api')}`, 'apis/apps/v1'),
      );
      if (status === 200) break;
      await delay(50);
    }
    assert.equal((await setOf('api')).spec.replicas, 1);
    assert.deepEqual(Object.keys((await objectOf('secrets', 'api')).data), ['daemon-hash-1', 'token-1']);
    await objectOf('persistentvolumeclaims', 'api');
    await must('GET', inNamespace('services/homeport-workspaces'));
    await must('GET', inNamespace('networkpolicies/homeport-workspaces', 'apis/networking.k8s.io/v1'));
    assert.deepEqual(await runtime.list(), [{ id: 'api', generation: 1 }]);
    abort.abort();
    await started;
  });
  await step('scales an aborted start to 0, and gives the next generation new tokens only', async () => {
    assert.equal((await setOf('api')).spec.replicas, 0);
    assert.equal((await runtime.status('api')).phase, 'stopped');
    const abort = new AbortController();
    const started = runtime.start(life('api', 2), abort.signal).catch(() => undefined);
    while ((await setOf('api')).spec.replicas !== 1) await delay(50);
    assert.deepEqual(Object.keys((await objectOf('secrets', 'api')).data), ['daemon-hash-2', 'token-2']);
    abort.abort();
    await started;
  });
  await step('refuses an object of the wrong type', async () => {
    const path = `${inNamespace(`statefulsets/${workspaceName(installation, 'api')}`, 'apis/apps/v1')}?fieldManager=test&force=true`;
    const wrong = { apiVersion: 'apps/v1', kind: 'StatefulSet', spec: { replicas: 'one' } };
    const { status } = await api('PATCH', path, wrong, own, 'application/apply-patch+yaml');
    assert.ok(status >= 400, `answered ${status}`);
  });
  await step('has no other permission than the Role', async () => {
    const name = workspaceName(installation, 'api');
    const refused = [
      ['GET', '/api/v1/namespaces/kube-system/secrets'],
      ['GET', inNamespace('secrets')],
      ['GET', inNamespace(`secrets/${name}`)],
      ['GET', inNamespace('pods')],
      ['GET', inNamespace('configmaps')],
      ['POST', inNamespace('pods')],
      ['DELETE', inNamespace(`persistentvolumeclaims/${name}`)],
      ['DELETE', inNamespace(`statefulsets/${name}`, 'apis/apps/v1')],
      ['GET', '/apis/apps/v1/namespaces/default/statefulsets'],
      ['GET', '/api/v1/nodes'],
    ];
    for (const [method, path] of refused) assert.equal((await api(method, path, undefined, own)).status, 403, path);
  });
  await step('refuses to start without a permission, and names it', async () => {
    const path = inNamespace('roles/homeport', 'apis/rbac.authorization.k8s.io/v1');
    const role = await must('GET', path);
    await must('PUT', path, { ...role, rules: role.rules.filter(({ resources }) => resources[0] !== 'pods') });
    try {
      await delay(1000);
      await assert.rejects(open({ WORKSPACE_PORT: '3002' }), /may not get pods/);
    } finally {
      const { metadata } = await must('GET', path);
      await must('PUT', path, { ...role, metadata });
    }
  });
  await runtime.close();
}

async function nodePart() {
  await delay(1000);
  const runtime = await open();
  const id = 'user/with odd id ✓';
  await step('keeps files over the end of a pod, and rejects old tokens', async () => {
    await ready(runtime, id, 1);
    const put = { method: 'PUT', body: 'kept', headers: { 'content-length': '4' } };
    const file = '/v1/files/content?path=kept.txt';
    const query = '&size=4&onConflict=replace';
    const { status, text: why } = await call(runtime, id, 1, `${file}${query}`, put);
    assert.equal(status, 201, why);
    await runtime.stop(id, 0);
    assert.equal((await runtime.status(id)).phase, 'stopped');
    await ready(runtime, id, 2);
    assert.deepEqual(await call(runtime, id, 2, file), { status: 200, text: 'kept' });
    assert.equal((await call(runtime, id, 1, '/v1/files/stat?path=kept.txt')).status, 401);
  });
  await step('runs without root, capabilities, other writable folders, DNS, or a token of the cluster', async () => {
    const run = (command) => shell(runtime, id, 2, command);
    assert.match(await run('id'), /uid=1000\S* gid=1000/);
    const status = await run('grep -E "CapEff|CapBnd|NoNewPrivs|Seccomp:" /proc/self/status');
    assert.match(status, /CapBnd:\t0+\nCapEff|CapEff:\t0+\n/);
    assert.match(status, /NoNewPrivs:\t1/);
    assert.match(status, /Seccomp:\t2/);
    assert.match(await run('touch /etc/x; touch /usr/x; touch /opt/x'), /(Read-only file system[\s\S]*){3}/);
    assert.equal(await run('touch ~/x /tmp/x && echo fine'), 'fine\n');
    assert.match(await run('ls /var/run/secrets/kubernetes.io'), /No such file/);
    assert.match(
      await run('ls -lnL /run/homeport/secrets'),
      /-r--r-----.* 1000 .*daemon-hash[\s\S]*-r--r-----.* 1000 .*token/,
    );
    assert.match(await run('getent hosts kubernetes.default.svc || echo unknown'), /unknown/);
    assert.doesNotMatch(await run('env'), /wst_|KUBERNETES_/);
    assert.match(await run('unshare -U true; mount -t tmpfs x /tmp'), /(denied|permitted|must be superuser)/i);
  });
  await step('reaps processes that a command leaves behind', async () => {
    const count = `ps -eo stat= | awk '/Z/ { zombies++ } END { print (NR > 2 ? "some" : "none"), zombies + 0 }'`;
    assert.equal(await shell(runtime, id, 2, `(setsid sleep 0.1 &); sleep 1; ${count}`), 'some 0\n');
  });
  await step('reaches the control plane and its proxy with the token', async () => {
    const command = `curl -sS --noproxy '*' -H "authorization: Bearer $(cat $HOMEPORT_TOKEN_FILE)" $HOMEPORT_URL/api/internal/x`;
    assert.equal(await shell(runtime, id, 2, command), `served Bearer ${life(id, 2).workspaceToken}`);
    const refused = await shell(runtime, id, 2, 'curl -sS https://10.0.0.1/ 2>&1');
    assert.match(refused, /403/);
  });
  await step('forwards a request and a WebSocket to the port of an app', async () => {
    const app = `require('http').createServer((q, a) => a.end('served ' + q.url)).on('upgrade', (q, s) => s.write('HTTP/1.1 101 Switching Protocols\\r\\nconnection: Upgrade\\r\\nupgrade: websocket\\r\\n\\r\\n') && s.pipe(s)).listen(4173, '127.0.0.1')`;
    const body = JSON.stringify({ id: randomUUID(), command: `exec node -e "${app}"`, background: true });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    assert.equal((await call(runtime, id, 2, '/v1/exec', init)).status, 200);
    const daemon = createDaemon({ address: () => runtime.dial(id), token: daemonToken(id, 2) });
    const ask = async (headers) => {
      let connection;
      for (let tries = 0; connection === undefined; tries += 1) {
        connection = await daemon.upgrade('/v1/tunnel?port=4173', never).catch((error) => {
          if (tries > 50) throw error;
        });
        if (connection === undefined) await delay(100);
      }
      return tunnelRequest(connection, { method: 'GET', path: '/x', headers, body: undefined, signal: never });
    };
    assert.equal(await text((await ask({ host: 'localhost:4173' })).head), 'served /x');
    const { upgraded } = await ask({ host: 'localhost:4173', connection: 'Upgrade', upgrade: 'websocket' });
    upgraded.write('hello');
    const [heard] = await once(upgraded, 'data');
    assert.equal(String(heard), 'hello');
    upgraded.destroy();
  });
  const [starts, stops, restarts] = [[], [], []];
  await step(`${rounds} starts of new people, and their ends`, async () => {
    for (let round = 0; round < rounds; round += 1) {
      starts.push(await timed(() => ready(runtime, `round-${round}`, 1)));
      stops.push(await timed(() => runtime.stop(`round-${round}`, 0)));
    }
    for (let round = 0; round < rounds; round += 1) {
      restarts.push(await timed(() => ready(runtime, `round-${round}`, 2)));
    }
    await Promise.all(starts.map((_, round) => runtime.stop(`round-${round}`, 0)));
  });
  figure('start of a new workspace until its daemon answers', starts);
  figure('start of a workspace with a home, some seconds after its stop', restarts);
  figure('stop until no container runs', stops);
  await step('starts right after a stop', async () => {
    await ready(runtime, 'again', 1);
    await runtime.stop('again', 0);
    figure('start right after a stop', [await timed(() => ready(runtime, 'again', 2))]);
    await runtime.stop('again', 0);
  });
  await step(`${atOnce} at once`, async () => {
    const ids = Array.from({ length: atOnce }, (_, at) => `crowd-${at}`);
    figure(`${atOnce} starts at once`, await Promise.all(ids.map((each) => timed(() => ready(runtime, each, 1)))));
    await Promise.all(ids.map((each) => runtime.stop(each, 0)));
  });
  await runtime.close();
  await step('finds and stops a workspace after kill -9 of its process', async () => {
    const child = spawn(process.execPath, [import.meta.filename, 'start-and-wait', 'orphan'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TEST_NAMESPACE: namespace, TEST_FOLDER: folder },
    });
    await once(createInterface({ input: child.stdout }), 'line');
    child.kill('SIGKILL');
    await once(child, 'close');
    const next = await open();
    assert.ok((await next.list()).some((each) => each.id === 'orphan' && each.generation === 1));
    await ready(next, 'orphan', 1);
    await next.stop('orphan', 0);
    assert.deepEqual(
      (await next.list()).filter((each) => each.id === 'orphan'),
      [],
    );
    await next.close();
  });
  await step('fails a start with a missing image immediately, with the reason', async () => {
    const other = await open({ WORKSPACE_IMAGE: 'registry.invalid/nothing:1' });
    figure('time until a missing image is reported', [
      await timed(() =>
        assert.rejects(other.start(life('image', 1), AbortSignal.timeout(60_000)), /Its image cannot be pulled/),
      ),
    ]);
    assert.equal((await other.status('image')).phase, 'stopped');
    await other.close();
  });
  await step('fails a start with an image that exits at once, with the reason', async () => {
    if (process.env.TEST_ENDING_IMAGE === undefined) return;
    const other = await open({ WORKSPACE_IMAGE: process.env.TEST_ENDING_IMAGE });
    await assert.rejects(
      other.start(life('ends', 1), AbortSignal.timeout(80_000)),
      /It crashes right after it starts|cannot be/,
    );
    await other.close();
  });
  await step('reports missing capacity and a missing volume while it waits', async () => {
    for (const [settings, pattern] of [
      [{ WORKSPACE_CPUS: '256' }, /^Unschedulable: /],
      [{ WORKSPACE_STORAGE_CLASS: 'no-such-class' }, /^Waiting for a volume: /],
    ]) {
      const other = await open(settings);
      const abort = new AbortController();
      const who = `waits-${Object.keys(settings)[0]}`;
      const started = other.start(life(who, 1), abort.signal).catch(() => undefined);
      let detail = '';
      for (let tries = 0; tries < 100 && !pattern.test(detail); tries += 1) {
        await delay(100);
        detail = (await other.status(who)).detail ?? '';
      }
      abort.abort();
      await started;
      await other.close();
      assert.match(detail, pattern);
    }
  });
}

try {
  const own = await prepare();
  const { gitVersion } = await must('GET', '/version');
  const { items } = await must('GET', '/api/v1/nodes');
  const isReady = ({ status }) => status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  const nodes = items.filter(isReady);
  console.log(`Kubernetes ${gitVersion}, ${nodes.length} nodes ready, namespace ${namespace}`);
  await apiPart(own);
  if (nodes.length > 0) await nodePart();
  else console.log('skip  what needs a node');
} catch (error) {
  results.failed += 1;
  console.log(`FAIL  ${error.stack ?? error}`);
} finally {
  await api('DELETE', `/api/v1/namespaces/${namespace}`).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
}
for (const line of figures) console.log(line);
console.log(`${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed === 0 ? 0 : 1);

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { loadAll } from 'js-yaml';
import { settingTable } from '../../../src/config/settings-table.ts';
import type { Json } from '../../app.ts';
import { faultsOf } from './api-schema.ts';
import { chart, find, helm, least, render, skip, younger } from './chart.ts';

/** How the chart fits into clusters: values of every form, secrets, security contexts, and how pods are replaced. */

const small = { ...least, workspaces: { enabled: false }, networkPolicy: { enabled: false } };

/** Helm beside a cluster in this process. */
function run(args: readonly string[], input: string): Promise<{ stdout: string }> {
  assert.ok(helm !== undefined, 'no helm: node scripts/test/get-helm.mjs');
  const running = promisify(execFile)(helm, args, { env: { PATH: process.env.PATH, HOME: tmpdir() } });
  running.child.stdin?.end(input);
  return running;
}

/** An API server that knows the kinds of the smallest chart, and has one Deployment or none. */
async function startCluster(metadata: Json): Promise<{ url: string; close(): void }> {
  const group = { groupVersion: 'apps/v1', version: 'v1' };
  const listed = (groupVersion: string, kinds: readonly string[]) => ({
    kind: 'APIResourceList',
    groupVersion,
    resources: kinds.map((kind) => ({ name: `${kind.toLowerCase()}s`, kind, namespaced: true, verbs: ['get'] })),
  });
  const answers: Record<string, Json> = {
    '/version': { major: '1', minor: '30', gitVersion: 'v1.30.0' },
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/api/v1': listed('v1', ['Service', 'ServiceAccount']),
    '/apis': { kind: 'APIGroupList', groups: [{ name: 'apps', versions: [group], preferredVersion: group }] },
    '/apis/apps/v1': listed('apps/v1', ['Deployment']),
  };
  if (metadata !== undefined) {
    const path = `/apis/apps/v1/namespaces/chat/deployments/${metadata.name}`;
    answers[path] = { apiVersion: 'apps/v1', kind: 'Deployment', metadata };
  }
  const missing = { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 };
  const server = createServer(({ url = '' }, response) => {
    const found = answers[url.split('?', 1)[0] ?? ''];
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? missing));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

const podOf = (values: Json, flags: readonly string[] = []): Json =>
  find(render({ ...least, ...values }, 'house', flags), 'Deployment').spec.template.spec;
const environmentOf = (values: Json, flags: readonly string[] = []): Record<string, string> =>
  Object.fromEntries(podOf(values, flags).containers[0].env.map(({ name, value }: Json) => [name, value]));

test('numbers are written in full, whether a values file or --set brings them', { skip }, () => {
  const numbers = {
    'settings.ARTIFACT_MAX_UPLOAD_BYTES': 1_073_741_824,
    'settings.WORKSPACE_FILES': 1_000_000_000,
    'settings.ARTIFACT_QUOTA_MB': 1_048_576,
    'settings.MAX_CONNECTIONS': 1_000_000,
    'workspaces.memoryMb': 1_048_576,
  };
  const settings = Object.fromEntries(
    Object.entries(numbers)
      .filter(([path]) => path.startsWith('settings.'))
      .map(([path, value]) => [path.slice('settings.'.length), value]),
  );
  const flags = Object.entries(numbers).flatMap(([path, value]) => ['--set', `${path}=${value}`]);
  const fromFile = environmentOf({ settings, workspaces: { memoryMb: 1_048_576 } });
  for (const environment of [fromFile, environmentOf({}, flags)]) {
    for (const [name, value] of Object.entries({ ...settings, WORKSPACE_MEMORY_MB: 1_048_576 }))
      assert.equal(environment[name], String(value));
  }
  const other = { OTEL_TRACES_SAMPLER_ARG: 0.05, MODEL_TITLES: false, LOG_LEVEL: 'info', PREVIEW: 2 ** 40 };
  const { OTEL_TRACES_SAMPLER_ARG, MODEL_TITLES, LOG_LEVEL, PREVIEW } = environmentOf({ settings: other });
  assert.deepEqual(
    [OTEL_TRACES_SAMPLER_ARG, MODEL_TITLES, LOG_LEVEL, PREVIEW],
    ['0.05', 'false', 'info', '1099511627776'],
  );
  const pod = podOf({
    podSecurityContext: { runAsUser: 1_000_680_000 },
    extraEnv: [{ name: 'A', value: 1_048_576 }],
    resources: { limits: { memory: 1_073_741_824 } },
    tolerations: [{ operator: 'Exists', tolerationSeconds: 31_536_000 }],
  });
  const [container] = pod.containers;
  assert.equal(pod.securityContext.runAsUser, 1_000_680_000);
  assert.equal(container.env.at(-1).value, '1048576');
  assert.equal(container.resources.limits.memory, 1_073_741_824);
  assert.equal(pod.tolerations[0].tolerationSeconds, 31_536_000);
});

test('workspaces take fractions of a processor', { skip }, () => {
  for (const [cpus, text] of [
    [0.5, '0.5'],
    ['500m', '500m'],
    [2, '2'],
    [1.25, '1.25'],
    ['0.5', '0.5'],
  ]) {
    const given = environmentOf({ workspaces: { cpus } }).WORKSPACE_CPUS;
    assert.equal(given, text);
    assert.notEqual(settingTable.workspaceCpus.parse(given ?? ''), undefined);
  }
  assert.equal(environmentOf({}, ['--set', 'workspaces.cpus=0.5']).WORKSPACE_CPUS, '0.5');
});

test('any setting can be a secret, of any Secret, and none is in the environment', { skip }, () => {
  const secretSettings = {
    SETUP_CLAIM_TOKEN: {},
    BACKUP_PASSPHRASE: { secret: 'backups', key: 'passphrase' },
    DATABASE_URL: { secret: 'postgres-app', key: 'uri' },
  };
  const { volumes, containers } = podOf({ secretSettings });
  const files = volumes
    .find(({ name }: Json) => name === 'secrets')
    .projected.sources.map(({ secret }: Json) => secret);
  assert.deepEqual(Object.fromEntries(files.map(({ name, items }: Json) => [items[0].path, [name, items[0].key]])), {
    AUTH_SECRET: ['keys', 'AUTH_SECRET'],
    SETTINGS_ENCRYPTION_KEY: ['keys', 'SETTINGS_ENCRYPTION_KEY'],
    DATABASE_URL: ['postgres-app', 'uri'],
    SETUP_CLAIM_TOKEN: ['keys', 'SETUP_CLAIM_TOKEN'],
    BACKUP_PASSPHRASE: ['backups', 'passphrase'],
  });
  const [{ env, volumeMounts }] = containers;
  const { mountPath } = volumeMounts.find(({ name }: Json) => name === 'secrets');
  for (const { items } of files) {
    const [{ path }] = items;
    assert.equal(env.find(({ name }: Json) => name === `${path}_FILE`).value, `${mountPath}/${path}`);
    assert.ok(!env.some(({ name }: Json) => name === path));
  }
});

test('environment, volumes, labels, annotations and the image are the operator’s to extend', { skip }, () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const objects = render({
    ...least,
    image: { repository: 'registry.example.org/homeport', tag: 'ignored', digest },
    annotations: { a: 1 },
    podAnnotations: { 'prometheus.io/port': 3000, 'prometheus.io/scrape': true, big: 1_048_576 },
    podLabels: { team: 'house' },
    nodeSelector: { gpu: true },
    service: { annotations: { internal: true } },
    serviceAccount: { annotations: { 'eks.amazonaws.com/role-arn': 'arn' } },
    extraEnv: [
      { name: 'NODE_EXTRA_CA_CERTS', value: '/certificates/ca.pem' },
      { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    ],
    extraEnvFrom: [{ configMapRef: { name: 'more' } }],
    extraVolumes: [{ name: 'certificates', configMap: { name: 'ca' } }],
    extraVolumeMounts: [{ name: 'certificates', mountPath: '/certificates', readOnly: true }],
  });
  for (const object of objects) if (!younger.has(object.kind)) assert.deepEqual(faultsOf(object), [], object.kind);
  const deployment = find(objects, 'Deployment');
  const { metadata, spec } = deployment.spec.template;
  const [container] = spec.containers;
  assert.equal(container.image, `registry.example.org/homeport@${digest}`);
  assert.equal(deployment.metadata.annotations.a, '1');
  assert.deepEqual(metadata.annotations, {
    'prometheus.io/port': '3000',
    'prometheus.io/scrape': 'true',
    big: '1048576',
  });
  assert.equal(metadata.labels.team, 'house');
  assert.deepEqual(spec.nodeSelector, { gpu: 'true' });
  assert.deepEqual(container.env.slice(-2), [
    { name: 'NODE_EXTRA_CA_CERTS', value: '/certificates/ca.pem' },
    { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
  ]);
  assert.deepEqual(container.envFrom, [{ configMapRef: { name: 'more' } }]);
  assert.ok(spec.volumes.some(({ name }: Json) => name === 'certificates'));
  assert.ok(container.volumeMounts.some(({ mountPath }: Json) => mountPath === '/certificates'));
  assert.deepEqual(find(objects, 'ServiceAccount').metadata.annotations, { 'eks.amazonaws.com/role-arn': 'arn' });
  assert.deepEqual(find(objects, 'Service').metadata.annotations, { internal: 'true' });
});

test('a cluster that assigns users and groups itself is given none', { skip }, () => {
  const none = { runAsUser: null, runAsGroup: null, fsGroup: null };
  const flags = Object.keys(none).flatMap((name) => ['--set', `podSecurityContext.${name}=null`]);
  for (const { securityContext, volumes } of [podOf({ podSecurityContext: none }), podOf({}, flags)]) {
    assert.deepEqual(securityContext, {
      runAsNonRoot: true,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    });
    // Without a group that is known here, the process reads them as anybody.
    assert.equal(volumes.find(({ name }: Json) => name === 'secrets').projected.defaultMode, 0o444);
  }
  const own = podOf({ securityContext: { readOnlyRootFilesystem: false, runAsUser: 7 } }).containers[0].securityContext;
  assert.deepEqual([own.readOnlyRootFilesystem, own.runAsUser, own.allowPrivilegeEscalation], [false, 7, false]);
  assert.equal(podOf({ podSecurityContext: null }).securityContext, undefined);
});

test('a schedule of backups needs a place that outlives the pod', { skip }, () => {
  const schedule = { BACKUP_SCHEDULE: 'daily 03:00' };
  const backups = { extraVolumeMounts: [{ name: 'backups', mountPath: '/backups/' }] };
  for (const values of [
    { settings: schedule },
    { settings: { ...schedule, BACKUP_TO: '' } },
    { extraEnv: [{ name: 'BACKUP_SCHEDULE', value: 'hourly' }] },
    { secretSettings: { BACKUP_SCHEDULE: {} } },
  ]) {
    assert.throws(
      () => podOf(values),
      /settings\.BACKUP_TO must be given with BACKUP_SCHEDULE/,
      JSON.stringify(values),
    );
  }
  for (const to of ['/data/backups', '/tmp', 'backups', '/backups-elsewhere']) {
    const values = { settings: { ...schedule, BACKUP_TO: to }, ...backups };
    assert.throws(() => podOf(values), /settings\.BACKUP_TO is .*, which ends with the pod/, to);
  }
  for (const values of [
    { settings: { ...schedule, BACKUP_TO: 's3://bucket/x' } },
    { settings: { ...schedule, BACKUP_TO: '/backups/homeport' }, ...backups },
    { settings: schedule, extraEnv: [{ name: 'BACKUP_TO', value: '/backups' }], ...backups },
    { settings: schedule, secretSettings: { BACKUP_TO: {} } },
    // Its content is not known here; the server refuses the start without it.
    { settings: schedule, extraEnvFrom: [{ configMapRef: { name: 'more' } }] },
    { settings: { BACKUP_TO: '/data' } },
  ]) {
    assert.ok(podOf(values), JSON.stringify(values));
  }
});

test('pods of another release take the place of all pods at once', { skip }, () => {
  const deployment = (values: Json) => find(render({ ...least, ...values }), 'Deployment');
  assert.deepEqual(deployment({}).spec.strategy, { type: 'Recreate' });
  assert.deepEqual(deployment({ updateStrategy: 'RollingUpdate' }).spec.strategy, {
    type: 'RollingUpdate',
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
  });
  // An upgrade compares this text with that of the Deployment in the cluster.
  const release = (values: Json) => deployment(values).metadata.annotations['homeport.release'];
  assert.equal(release({ replicas: 3 }), release({}));
  assert.notEqual(release({ image: { tag: '0.0.9' } }), release({}));
  assert.notEqual(release({ image: { digest: `sha256:${'b'.repeat(64)}` } }), release({}));
});

test('an upgrade asks the cluster what runs: only pods of the same release are replaced one by one', {
  skip,
}, async () => {
  const { metadata } = find(render(small), 'Deployment');
  const older = { ...metadata, annotations: {} };
  const other = { ...metadata, annotations: { 'homeport.release': '0.0.9 homeport:0.0.9' } };
  const kinds: string[] = [];
  for (const running of [metadata, older, other, undefined]) {
    const cluster = await startCluster(running);
    const asked = ['--dry-run=server', '--is-upgrade', '--disable-openapi-validation', '--kube-apiserver', cluster.url];
    const args = ['template', 'house', chart, '--namespace', 'chat', '--values', '-', ...asked];
    const { stdout } = await run(args, JSON.stringify(small)).finally(() => cluster.close());
    kinds.push(find(loadAll(stdout), 'Deployment').spec.strategy.type);
  }
  assert.deepEqual(kinds, ['RollingUpdate', 'Recreate', 'Recreate', 'Recreate']);
});

test('no probe ends a migration that takes hours', { skip }, () => {
  const { startupProbe, livenessProbe } = podOf({}).containers[0];
  assert.ok(startupProbe.periodSeconds * startupProbe.failureThreshold >= 24 * 3_600);
  assert.ok(livenessProbe.httpGet, 'it begins after the startup probe');
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { settingTable } from '../../../src/config/settings-table.ts';
import { neededVerbs } from '../../../src/workspaces/runtimes/kubernetes/probe.ts';
import type { Json } from '../../app.ts';
import { faultsOf } from './api-schema.ts';
import { chart, find, least, render, skip, younger } from './chart.ts';

/** The chart as Helm renders it, checked against the official definitions of Kubernetes v1.20.2. */

const s3 = { location: 's3://bucket/x', endpoint: 'https://s3.example', existingSecret: 's3' };
const variants: Record<string, Json> = {
  'the minimal values': least,
  'everything in another namespace': {
    ...least,
    replicas: 3,
    artifacts: { s3 },
    settings: { EDITION: 'managed', MODEL_TITLES: false, WORKSPACE_IDLE_MINUTES: 5 },
    workspaces: { namespace: 'people', storageClass: 'fast', runtimeClass: 'gvisor', memoryMb: 1_048_576 },
    ingress: {
      enabled: true,
      className: 'nginx',
      controller: 'nginx',
      tlsSecret: 'tls',
      annotations: { a: 'b' },
      moreHosts: ['*.apps.example.org'],
    },
    metrics: { existingSecret: 'numbers', serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
    networkPolicy: { from: [{ namespaceSelector: { matchLabels: { a: 'b' } } }] },
    imagePullSecrets: [{ name: 'pull' }],
    podAnnotations: { a: 'b' },
    nodeSelector: { disk: 'fast' },
    tolerations: [{ operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
  },
  'no workspaces': { ...least, workspaces: { enabled: false }, networkPolicy: { enabled: false } },
};
const kindsOf = (objects: Json[]) => objects.map(({ kind }) => kind).sort();

for (const [name, values] of Object.entries(variants)) {
  test(`${name}: renders objects that the API accepts`, { skip }, () => {
    const objects = render(values);
    const known = objects.filter(({ kind }) => !younger.has(kind));
    for (const object of known) assert.deepEqual(faultsOf(object), [], object.kind);
    const deployment = find(objects, 'Deployment');
    const pod = deployment.spec.template.spec;
    const [container] = pod.containers;
    assert.deepEqual(
      [pod.securityContext.runAsNonRoot, pod.securityContext.seccompProfile.type],
      [true, 'RuntimeDefault'],
    );
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    // Every setting exists and accepts its value; a file must be mounted at the path of its setting.
    const settings = Object.values(settingTable);
    const paths = container.volumeMounts.map(({ mountPath }: Json) => mountPath);
    for (const { name: variable, value } of container.env) {
      const setting = settings.find((each) => each.name === variable.replace(/_FILE$/, ''));
      assert.ok(setting !== undefined, `${variable} is no setting`);
      if (variable.endsWith('_FILE'))
        assert.ok(
          paths.some((path: string) => value.startsWith(`${path}/`)),
          variable,
        );
      else assert.notEqual(setting.parse(value), undefined, `${variable}=${value}`);
    }
    const names = container.env.map((each: Json) => each.name);
    assert.equal(new Set(names).size, names.length, 'server-side apply takes no variable twice');
    const mounted = container.volumeMounts.map((mount: Json) => mount.name).sort();
    assert.deepEqual(mounted, pod.volumes.map((volume: Json) => volume.name).sort());
  });
}

test('the Role contains exactly the permissions that the runtime uses', { skip }, () => {
  const objects = render(variants['everything in another namespace']);
  const role = find(objects, 'Role');
  const granted = role.rules.map(({ apiGroups, resources, verbs }: Json) => [apiGroups, resources, verbs]);
  const needed = neededVerbs.map(([resource, verbs]) => {
    const [version = '', plural] = resource.split(' ');
    return [[version.includes('/') ? version.split('/')[0] : ''], [plural], [...verbs]];
  });
  assert.deepEqual(granted, needed);
  assert.equal(role.metadata.namespace, 'people');
  const binding = find(objects, 'RoleBinding');
  assert.deepEqual(
    [binding.metadata.namespace, binding.subjects[0].namespace, binding.subjects[0].name],
    ['people', 'chat', find(objects, 'ServiceAccount').metadata.name],
  );
});

test('workspaces reach the port of workspaces through the Service that their setting names', { skip }, () => {
  const objects = render(variants['everything in another namespace']);
  const deployment = find(objects, 'Deployment');
  const env = Object.fromEntries(
    deployment.spec.template.spec.containers[0].env.map(({ name, value }: Json) => [name, value]),
  );
  const service = find(objects, 'Service', '-workspaces');
  assert.equal(env.WORKSPACE_CONTROL_URL, `http://${service.metadata.name}.chat.svc:3001`);
  const pairs = env.WORKSPACE_CONTROL_PODS.split(',').map((pair: string) => pair.split('='));
  const { labels } = deployment.spec.template.metadata;
  for (const [name, value] of pairs) assert.equal(labels[name], value);
  const [, fromWorkspaces] = find(objects, 'NetworkPolicy').spec.ingress;
  assert.equal(fromWorkspaces.from[0].podSelector.matchLabels['homeport.installation'], env.WORKSPACE_INSTALLATION);
  assert.equal(fromWorkspaces.from[0].namespaceSelector.matchLabels['kubernetes.io/metadata.name'], 'people');
  assert.equal(find(objects, 'Ingress').spec.rules[0].host, 'chat.example.org');
});

test('without workspaces it has no permission and no token of the cluster', { skip }, () => {
  const objects = render(variants['no workspaces']);
  assert.deepEqual(kindsOf(objects), ['Deployment', 'Service', 'ServiceAccount']);
  assert.equal(find(objects, 'Deployment').spec.template.spec.automountServiceAccountToken, false);
});

test('refuses values that cannot work by name', { skip }, () => {
  const refusals: [Json, RegExp][] = [
    [{}, /existingSecret[\s\S]*baseUrl|baseUrl[\s\S]*existingSecret/],
    [{ ...least, artifacts: {} }, /artifacts\.s3\.location or artifacts\.existingClaim must be given/],
    [{ ...least, artifacts: { s3: { location: 's3://b' } } }, /artifacts\.s3\.existingSecret must be given/],
    [{ ...least, replicas: 0 }, /replicas/],
    [{ ...least, metrics: { serviceMonitor: { enabled: true } } }, /metrics\.existingSecret must be given/],
    [{ ...least, metrics: { serviceMonitor: { interval: 'often' } } }, /interval/],
    [{ ...least, ingress: { controller: 'apache' } }, /controller/],
    [{ ...least, settings: { METRICS_TOKEN: 'x' } }, /settings\.METRICS_TOKEN: the chart has a value/],
    [{ ...least, workspaces: { storageSize: 'big' } }, /storageSize/],
    [{ ...least, workspaces: { mode: 'local' } }, /mode/],
    [{ ...least, settings: { 'not a name': 'x' } }, /not a name/],
    [{ ...least, settings: { WORKSPACE_CPUS: 2 } }, /settings\.WORKSPACE_CPUS: the chart has a value/],
    [{ ...least, workspaces: { cpus: 0.05 } }, /cpus/],
    [{ ...least, workspaces: { cpus: 'half' } }, /cpus/],
    [{ ...least, image: { digest: 'sha256:abc' } }, /digest/],
    [{ ...least, updateStrategy: 'Rolling' }, /updateStrategy/],
    [{ ...least, settings: { DATABASE_URL: 'x' } }, /settings\.DATABASE_URL: the chart has a value/],
    [
      { ...least, secretSettings: { BACKUP_PASSPHRASE: {} }, settings: { BACKUP_PASSPHRASE: 'x' } },
      /settings\.BACKUP_PASSPHRASE: it is a secret/,
    ],
    [{ ...least, secretSettings: { METRICS_TOKEN: {} } }, /secretSettings\.METRICS_TOKEN: the chart has a value/],
    [{ ...least, secretSettings: { x: {} } }, /'x' does not match/],
    [{ ...least, extraEnv: [{ name: 'PORT', value: '1' }] }, /extraEnv\.PORT: the chart has a value/],
    [{ ...least, extraEnv: [{ name: 'A' }, { name: 'A' }] }, /extraEnv: A is given twice/],
    [{ ...least, extraEnv: [{ value: 'A' }] }, /extraEnv/],
    [{ ...least, extraVolumes: [{ name: 'data' }] }, /extraVolumes: the chart has a volume data/],
    [{ ...least, podLabels: { 'app.kubernetes.io/name': 'x' } }, /podLabels: the chart has a value/],
  ];
  for (const [values, pattern] of refusals) assert.throws(() => render(values), pattern);
});

test('spreads several replicas, which leave their nodes one at a time', { skip }, () => {
  const one = render(least);
  assert.equal(find(one, 'PodDisruptionBudget'), undefined);
  const objects = render(variants['everything in another namespace']);
  const { matchLabels } = find(objects, 'Deployment').spec.selector;
  assert.deepEqual(find(objects, 'PodDisruptionBudget').spec, { maxUnavailable: 1, selector: { matchLabels } });
  const spread = find(objects, 'Deployment').spec.template.spec.topologySpreadConstraints;
  const soft = { maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels } };
  assert.deepEqual(spread, [
    { ...soft, topologyKey: 'kubernetes.io/hostname' },
    { ...soft, topologyKey: 'topology.kubernetes.io/zone' },
  ]);
  const off = find(render({ ...least, topologySpread: false }), 'Deployment');
  assert.equal(off.spec.template.spec.topologySpreadConstraints, undefined);
});

test('Prometheus finds only the page’s Service, with its token, as the job that the alert rules name', {
  skip,
}, () => {
  const objects = render(variants['everything in another namespace']);
  const { metadata, spec } = find(objects, 'ServiceMonitor');
  assert.equal(metadata.labels.release, 'prometheus');
  const services = objects.filter(({ kind }) => kind === 'Service');
  const chosen = services.filter(({ metadata: { labels } }) =>
    Object.entries(spec.selector.matchLabels).every(([name, value]) => labels[name] === value),
  );
  assert.deepEqual(
    chosen.map((each) => each.metadata.name),
    [metadata.name],
  );
  const rules = readFileSync(`${chart}/../../monitoring/alerts.yaml`, 'utf8');
  assert.ok(rules.includes(`job="${chosen[0]?.metadata.labels[spec.jobLabel]}"`));
  assert.deepEqual(spec.endpoints, [
    {
      port: 'http',
      path: '/metrics',
      interval: '30s',
      authorization: { credentials: { name: 'numbers', key: 'METRICS_TOKEN' } },
    },
  ]);
  assert.equal(chosen[0]?.spec.ports[0].name, spec.endpoints[0].port);
});

test('an ingress passes streams, terminals and uploads, for every host', { skip }, () => {
  const { metadata, spec } = find(render(variants['everything in another namespace']), 'Ingress');
  assert.deepEqual(metadata.annotations, {
    'nginx.ingress.kubernetes.io/proxy-buffering': 'off',
    'nginx.ingress.kubernetes.io/proxy-request-buffering': 'off',
    'nginx.ingress.kubernetes.io/proxy-read-timeout': '3600',
    'nginx.ingress.kubernetes.io/proxy-send-timeout': '3600',
    'nginx.ingress.kubernetes.io/proxy-body-size': '110m',
    a: 'b',
  });
  const hosts = ['chat.example.org', '*.apps.example.org'];
  assert.deepEqual(
    spec.rules.map(({ host }: Json) => host),
    hosts,
  );
  assert.deepEqual(spec.tls, [{ hosts, secretName: 'tls' }]);
  const own = { 'nginx.ingress.kubernetes.io/proxy-read-timeout': '60' };
  const changed = { ...least, ingress: { enabled: true, controller: 'nginx', annotations: own } };
  const { annotations } = find(render(changed), 'Ingress').metadata;
  assert.equal(annotations['nginx.ingress.kubernetes.io/proxy-read-timeout'], '60', 'what is given wins');
  const plain = find(render({ ...least, ingress: { enabled: true } }), 'Ingress');
  assert.equal(plain.metadata.annotations, undefined);
});

test('long names of a release stay valid', { skip }, () => {
  for (const release of ['a'.repeat(53), 'homeport', `homeport-${'b'.repeat(44)}`]) {
    for (const { metadata } of render(least, release)) assert.match(metadata.name, /^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/);
  }
});

test("the chart has this release's version", () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
  const text = readFileSync(`${chart}/Chart.yaml`, 'utf8');
  assert.match(text, new RegExp(`^version: ${version}$`, 'm'));
  assert.match(text, new RegExp(`^appVersion: ${version}$`, 'm'));
});

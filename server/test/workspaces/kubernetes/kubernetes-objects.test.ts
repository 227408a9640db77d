import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { podName, shortName, workspaceName } from '../../../src/workspaces/runtimes/kubernetes/names.ts';
import {
  claimOf,
  networkPolicyOf,
  type ObjectSettings,
  secretOf,
  serviceOf,
  statefulSetOf,
} from '../../../src/workspaces/runtimes/kubernetes/objects.ts';
import type { Json } from '../../app.ts';
import { faultsOf } from './api-schema.ts';

/** Objects written to a cluster, checked against the official OpenAPI definitions of Kubernetes v1.20.2. */

const settings: ObjectSettings = {
  namespace: 'people',
  installation: 'homeport',
  image: 'registry.example/homeport-workspace:1',
  memoryMb: 1024,
  cpus: 1,
  storageSize: '10Gi',
  permissions: { HOMEPORT_MODELS: '1' },
  home: { bytes: 10 * 1024 ** 3, files: 1_000_000 },
  storageClass: 'fast',
  runtimeClass: undefined,
  control: {
    url: new URL('http://homeport-workspaces.chat.svc:3001'),
    address: '10.96.12.34',
    egress: true,
    peer: { podSelector: { matchLabels: { 'app.kubernetes.io/name': 'homeport' } } },
    port: 3001,
  },
};
const workspace = {
  id: 'user-1',
  generation: 7,
  slot: 3,
  daemonTokenHash: 'ab'.repeat(32),
  workspaceToken: `wst_${'x'.repeat(43)}`,
};

const objectsOf = (from: ObjectSettings, { id, generation, ...rest }: typeof workspace) => [
  serviceOf(from),
  networkPolicyOf(from),
  claimOf(from, id),
  secretOf(from, { id, generation, ...rest }),
  statefulSetOf(from, id, generation),
];

test('the objects equal the reviewed ones: UPDATE_GOLDEN=1 writes them again', () => {
  const file = new URL('objects.golden.json', import.meta.url);
  const objects = JSON.parse(JSON.stringify(objectsOf(settings, workspace)));
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, `${JSON.stringify(objects, null, 2)}\n`);
  assert.deepEqual(objects, JSON.parse(readFileSync(file, 'utf8')));
});

test('the API accepts the objects for all settings and ids', () => {
  const text = fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }), fc.uuid());
  const control = fc.record({
    url: fc.constantFrom(
      ...['http://homeport:3001', 'http://10.0.0.1', 'http://[fd00::1]:81'].map((url) => new URL(url)),
    ),
    address: fc.option(fc.ipV4(), { nil: undefined }),
    egress: fc.boolean(),
    peer: fc.constantFrom({ ipBlock: { cidr: '10.0.0.1/32' } }, settings.control.peer),
    port: fc.integer({ min: 1, max: 65_535 }),
  });
  const anySettings = fc.record({
    namespace: fc.constantFrom('default', 'a-b'),
    installation: fc.constantFrom('homeport', 'a'.repeat(20)),
    image: fc.webPath({ size: 'small' }),
    memoryMb: fc.integer({ min: 128, max: 1_048_576 }),
    cpus: fc.integer({ min: 100, max: 256_000 }).map((thousandths) => thousandths / 1_000),
    home: fc.constant(settings.home),
    permissions: fc.constant(settings.permissions),
    storageSize: fc.constantFrom('1Gi', '500Mi', '2Ti'),
    storageClass: fc.option(fc.constantFrom('fast', 'a.b'), { nil: undefined }),
    runtimeClass: fc.option(fc.constantFrom('gvisor'), { nil: undefined }),
    control,
  });
  const anyWorkspace = fc.record({
    id: text,
    generation: fc.nat(),
    slot: fc.nat(),
    daemonTokenHash: text,
    workspaceToken: text,
  });
  fc.assert(
    fc.property(anySettings, anyWorkspace, (given, person) => {
      for (const object of objectsOf(given, person)) {
        assert.deepEqual(faultsOf(JSON.parse(JSON.stringify(object))), []);
        for (const value of Object.values(object.metadata?.labels ?? {})) {
          assert.match(value, /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('finds an object of the wrong type, with an unknown field or without a required one', () => {
  const change = (edit: (spec: Json) => void): string[] => {
    const object = JSON.parse(JSON.stringify(statefulSetOf(settings, 'x', 1)));
    edit(object.spec);
    return faultsOf(object);
  };
  assert.deepEqual(
    change(() => undefined),
    [],
  );
  assert.deepEqual(
    change((spec) => {
      spec.replicas = '1';
    }),
    ['StatefulSet.spec.replicas: no whole number'],
  );
  assert.deepEqual(
    change((spec) => {
      spec.template.spec.securityContext.runAsNonRooot = true;
    }),
    ['StatefulSet.spec.template.spec.securityContext.runAsNonRooot: no such field'],
  );
  assert.deepEqual(
    change((spec) => {
      delete spec.serviceName;
    }),
    ['StatefulSet.spec.serviceName: missing'],
  );
  assert.deepEqual(
    change((spec) => {
      spec.template.spec.containers[0].resources.limits.memory = '1 GB';
    }),
    ['StatefulSet.spec.template.spec.containers[0].resources.limits.memory: no quantity'],
  );
});

test("names are DNS labels with room for Kubernetes' suffixes, and differ as ids do", () => {
  const ids = fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1, maxLength: 64 }), {
    minLength: 2,
    maxLength: 20,
  });
  fc.assert(
    fc.property(ids, (many) => {
      for (const id of many) {
        assert.match(shortName(id), /^[a-z2-7]{26}$/);
        const longest = `${podName('a'.repeat(20), id)}-1234567890`;
        assert.match(longest, /^[a-z]([a-z0-9-]{0,61}[a-z0-9])$/);
      }
      assert.equal(new Set(many.map((id) => workspaceName('homeport', id))).size, many.length);
    }),
  );
  assert.notEqual(shortName('User'), shortName('user'));
});

test('a pod has no permission that it does not need', () => {
  const spec = statefulSetOf(settings, 'x', 1).spec?.template.spec;
  const [container] = spec?.containers ?? [];
  assert.deepEqual(
    [spec?.automountServiceAccountToken, spec?.enableServiceLinks, spec?.hostNetwork, spec?.hostPID, spec?.hostIPC],
    [false, false, undefined, undefined, undefined],
  );
  assert.deepEqual(
    [spec?.securityContext?.runAsNonRoot, spec?.securityContext?.seccompProfile?.type],
    [true, 'RuntimeDefault'],
  );
  assert.deepEqual(container?.securityContext, {
    allowPrivilegeEscalation: false,
    privileged: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  // Secrets are files of the pod's own group, and in no variable.
  const volume = spec?.volumes?.find(({ name }) => name === 'secrets')?.secret;
  assert.deepEqual([volume?.defaultMode, volume?.items?.map(({ path }) => path)], [0o440, ['daemon-hash', 'token']]);
  assert.doesNotMatch(JSON.stringify(spec), /wst_|abab/);
});

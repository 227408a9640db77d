import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { loadAll } from 'js-yaml';
import { findHelm } from '../../../../scripts/test/get-helm.mjs';
import type { Json } from '../../app.ts';

/** The chart as Helm itself renders it. */

export const chart = fileURLToPath(new URL('../../../../deploy/helm/homeport', import.meta.url));
export const helm = findHelm();
export const skip =
  helm === undefined && process.env.REQUIRE_HELM !== '1' ? 'no helm: node scripts/test/get-helm.mjs' : false;
export const least = {
  baseUrl: 'https://chat.example.org:8443',
  existingSecret: 'keys',
  artifacts: { existingClaim: 'files' },
};

export function render(values: Json, release = 'house', flags: readonly string[] = []): Json[] {
  assert.ok(helm !== undefined, 'no helm: node scripts/test/get-helm.mjs');
  const args = ['template', release, chart, '--namespace', 'chat', '--values', '-', ...flags];
  return loadAll(execFileSync(helm, args, { input: JSON.stringify(values), encoding: 'utf8', stdio: 'pipe' })).filter(
    (object) => object !== null,
  );
}

// Kinds that the definitions of v1.20 do not have; tests below say exactly what they are.
export const younger = new Set(['PodDisruptionBudget', 'ServiceMonitor']);
export const find = (objects: Json[], kind: string, name = '') =>
  objects.find((object) => object.kind === kind && object.metadata.name.endsWith(name));

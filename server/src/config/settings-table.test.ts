import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, loadConfig } from './config.ts';
import { parseS3Location } from './setting-values.ts';

const secrets = {
  AUTH_SECRET: 'a key for the tests longer than 32 bytes',
  SETTINGS_ENCRYPTION_KEY: 'another key for the tests longer than 32 bytes',
};

test('a bucket and the folder in it', () => {
  const cases: [given: string, location: ReturnType<typeof parseS3Location>][] = [
    ['s3://my-bucket', { bucket: 'my-bucket', prefix: '' }],
    ['s3://my.bucket/', { bucket: 'my.bucket', prefix: '' }],
    ['s3://my-bucket/a/b', { bucket: 'my-bucket', prefix: 'a/b' }],
    ['s3://my-bucket/a/b//', { bucket: 'my-bucket', prefix: 'a/b' }],
    ['s3://', undefined],
    ['s3://My_Bucket/a', undefined],
    ['s3://my-bucket/a b', undefined],
    ['S3://my-bucket', undefined],
    ['./files', undefined],
  ];
  for (const [given, location] of cases) assert.deepEqual(parseS3Location(given), location, given);
});

test('a bucket needs its keys; a folder needs none', () => {
  const load = (environment: Record<string, string>) => loadConfig({ ...secrets, ...environment });
  assert.equal(load({ ARTIFACT_STORE: './files' }).artifactStore, './files');
  const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
  assert.equal(load({ ARTIFACT_STORE: 's3://bucket/a', ...keys }).awsSecretAccessKey, 'secret');
  assert.throws(
    () => load({ ARTIFACT_STORE: 's3://bucket/a', AWS_ACCESS_KEY_ID: 'id' }),
    (error: unknown) =>
      error instanceof ConfigError &&
      /AWS_SECRET_ACCESS_KEY is not set, but the bucket in ARTIFACT_STORE/.test(error.message),
  );
  for (const [name, value] of [
    ['ARTIFACT_STORE', 's3://No_Bucket'],
    ['AWS_ENDPOINT_URL_S3', 'minio:9000'],
  ] as const) {
    assert.throws(() => load({ [name]: value }), new RegExp(`${name} is .*it takes`));
  }
});

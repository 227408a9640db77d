import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { ConfigError, directUrl, loadConfig } from './config.ts';
import { settingTable } from './settings-table.ts';
import { parsePairs } from './tracing-settings.ts';

const scratch = mkdtempSync(join(tmpdir(), 'homeport-config-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

let folders = 0;
function freshFolder(): string {
  folders += 1;
  return join(scratch, `data-${folders}`);
}

const keyA = 'a key for the tests longer than 32 bytes';
const keyB = 'another key for the tests longer than 32 bytes';
const secrets = { AUTH_SECRET: keyA, SETTINGS_ENCRYPTION_KEY: keyB };
const database = 'postgres://homeport:pass-word@db.example.org/homeport';

function load(environment: Record<string, string>) {
  return loadConfig({ ...secrets, DATA_DIR: '/nowhere/data', ...environment });
}

/** The lines of the error message, without its heading. */
function problemsOf(environment: Record<string, string | undefined>): string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message.split('\n').slice(1);
  }
  return [];
}

function refused(name: string, values: string[]): void {
  for (const value of values) {
    const problems = problemsOf({ ...secrets, [name]: value });
    assert.equal(problems.length, 1, `${name}=${value}`);
    assert.ok(problems[0]?.includes(`${name} is ${JSON.stringify(value)}; it takes `), problems[0]);
  }
}

describe('values', () => {
  test('defaults are those of the contract', () => {
    const { version, fromEnvironment, ...config } = loadConfig({ ...secrets });
    assert.deepEqual([...fromEnvironment].sort(), ['authSecret', 'encryptionKey']);
    assert.deepEqual(config, {
      edition: 'community',
      databaseUrl: undefined,
      databaseDirectUrl: undefined,
      databasePoolMax: 10,
      dataDir: join(process.cwd(), 'data'),
      host: '127.0.0.1',
      port: 3000,
      baseUrl: undefined,
      authSecret: keyA,
      encryptionKey: keyB,
      previewOrigin: undefined,
      previousEncryptionKeys: [],
      setupClaimToken: undefined,
      traceContextToProviders: false,
      tracesBase: undefined,
      tracesHeaders: undefined,
      tracesProtocol: 'http/protobuf',
      tracesResource: undefined,
      tracesSampler: 'parentbased_always_on',
      tracesSamplerArg: '1',
      tracesService: 'homeport',
      tracesUrl: undefined,
      metricsToken: undefined,
      artifactStore: undefined,
      awsRegion: 'us-east-1',
      awsEndpoint: undefined,
      awsAccessKeyId: undefined,
      awsSecretAccessKey: undefined,
      awsSessionToken: undefined,
      allowPrivateEgress: false,
      allowInsecureHttp: false,
      httpsProxy: undefined,
      httpProxy: undefined,
      noProxy: [],
      trustedProxies: [],
      artifactMaxUploadBytes: 104_857_600,
      workspaceMode: 'auto',
      workspaceIdleMinutes: 30,
      workspaceEgress: 'proxy',
      workspaceMemoryMb: 1024,
      workspaceCpus: 1,
      workspaceProcesses: 512,
      artifactQuotaMb: 0,
      workspaceDiskMb: 10_240,
      workspaceFiles: 1_000_000,
      workspaceModels: true,
      drainSeconds: 0,
      maxConnections: 5_000,
      answersPerAccount: 500,
      streamsPerAccount: 1_000,
      workspaceImage: 'homeport-workspace:latest',
      workspaceDockerHost: 'unix:///var/run/docker.sock',
      workspaceDockerRuntime: undefined,
      workspaceInstallation: 'homeport',
      workspaceNamespace: undefined,
      workspaceControlUrl: undefined,
      workspaceControlPods: undefined,
      workspacePort: 3001,
      workspaceStorageClass: undefined,
      workspaceStorageSize: undefined,
      workspaceRuntimeClass: undefined,
      auditDays: 400,
      logLevel: 'info',
      modelTitles: true,
      compactionAt: 85,
      backupSchedule: undefined,
      backupTo: undefined,
      backupKeep: 7,
      backupPassphrase: undefined,
      backupWorkspaces: false,
    });
    assert.match(version, /^\d+\.\d+\.\d+$/);
  });

  test('empty and blank count as unset; the settings are frozen', () => {
    const config = load({ PORT: '', HOST: '  ', EDITION: '', TRUSTED_PROXIES: ' , ' });
    assert.deepEqual([config.port, config.host, config.edition], [3000, '127.0.0.1', 'community']);
    assert.deepEqual(config.trustedProxies, []);
    assert.ok(Object.isFrozen(config));
  });

  test('booleans are true or false and nothing else', () => {
    for (const name of ['ALLOW_PRIVATE_EGRESS', 'ALLOW_INSECURE_HTTP', 'MODEL_TITLES']) {
      refused(name, ['1', '0', 'yes', 'no', 'True', 'FALSE', 'on', 'truee']);
    }
    assert.equal(load({ ALLOW_PRIVATE_EGRESS: 'true' }).allowPrivateEgress, true);
    assert.equal(load({ ALLOW_INSECURE_HTTP: 'false' }).allowInsecureHttp, false);
    assert.equal(load({ MODEL_TITLES: 'false' }).modelTitles, false);
  });

  test('choices are those of the table', () => {
    refused('EDITION', ['Managed', 'enterprise']);
    refused('LOG_LEVEL', ['verbose', 'INFO']);
    assert.equal(load({ EDITION: 'managed' }).edition, 'managed');
    assert.equal(load({ LOG_LEVEL: 'silent' }).logLevel, 'silent');
  });

  test('PORT is a whole number from 0 to 65535, an upload has at least a byte', () => {
    refused('PORT', ['-1', '65536', '3000.5', '1e3', '0x50', 'http', '99999999999999999999']);
    refused('ARTIFACT_MAX_UPLOAD_BYTES', ['0', '-5', '100MB', '1099511627777']);
    assert.equal(load({ PORT: '0' }).port, 0);
    assert.equal(load({ PORT: '65535' }).port, 65_535);
    assert.equal(load({ ARTIFACT_MAX_UPLOAD_BYTES: '1099511627776' }).artifactMaxUploadBytes, 2 ** 40);
  });

  test('WORKSPACE_CPUS takes fractions, as decimals and in thousandths', () => {
    refused('WORKSPACE_CPUS', ['0', '0.05', '99m', '257', '256001m', '1.0005', '.5', '1e2', 'm', '0,5', '1 000m']);
    for (const [text, cpus] of Object.entries({ '0.5': 0.5, '500m': 0.5, '2': 2, '2.0': 2, '1500m': 1.5, '100m': 0.1 }))
      assert.equal(load({ WORKSPACE_CPUS: text }).workspaceCpus, cpus);
  });

  test('BASE_URL is an origin', () => {
    refused('BASE_URL', [
      'chat.example.org',
      'ftp://chat.example.org',
      'https:/chat.example.org',
      'https://chat.example.org/chat',
      'https://chat.example.org/?a=1',
      'https://chat.example.org/#top',
      'https://user@chat.example.org',
      'https://user:word@chat.example.org',
      'https://',
    ]);
    assert.equal(load({ BASE_URL: 'https://Chat.Example.org/' }).baseUrl, 'https://chat.example.org');
    assert.equal(load({ BASE_URL: 'https://chat.example.org:443' }).baseUrl, 'https://chat.example.org');
    assert.equal(load({ BASE_URL: 'http://10.0.0.7:8080' }).baseUrl, 'http://10.0.0.7:8080');
  });

  test('a BASE_URL that is no origin says why', () => {
    const advice = (url: string) => problemsOf({ BASE_URL: url }).join();
    assert.match(advice('https://chat.example.org/chat'), /does not run under a path; give it a host name or a port/);
    assert.match(advice('https://chat.example.org/?a=1'), /end it after the host name or the port/);
    assert.match(advice('https://user:word@chat.example.org'), /leave out the user name and the password/);
    assert.match(advice('chat.example.org'), /takes an http or https origin such as https:\/\/chat\.example\.org$/);
  });

  test('TRUSTED_PROXIES are addresses and CIDRs', () => {
    refused('TRUSTED_PROXIES', ['10.0.0.0/33', '10/8', '10', 'proxy.local', 'fd00::/129', '10.0.0.0/-1', '10.0.0.1,x']);
    assert.deepEqual(load({ TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1 ,fd00::/8' }).trustedProxies, [
      '10.0.0.0/8',
      '127.0.0.1',
      'fd00::/8',
    ]);
  });
});

describe('refusals', () => {
  test('name every bad setting at once', () => {
    const problems = problemsOf({
      EDITION: 'x',
      PORT: 'x',
      BASE_URL: 'x',
      DATABASE_URL: 'x',
      TRUSTED_PROXIES: 'x',
      ALLOW_PRIVATE_EGRESS: 'x',
      ALLOW_INSECURE_HTTP: 'x',
      MODEL_TITLES: 'x',
      LOG_LEVEL: 'x',
      ARTIFACT_MAX_UPLOAD_BYTES: 'x',
      AUTH_SECRET: 'x',
      SETTINGS_ENCRYPTION_KEY: 'x',
      SETTINGS_ENCRYPTION_KEY_PREVIOUS: 'x',
      SETUP_CLAIM_TOKEN_FILE: join(scratch, 'missing'),
    });
    assert.equal(problems.length, 14, problems.join('\n'));
  });

  test('never print the value of a secret', () => {
    const canary = 'canary-7319';
    for (const { name, secret, parse } of Object.values(settingTable)) {
      if (!secret || parse(canary) !== undefined) continue;
      const [problem, ...others] = problemsOf({ ...secrets, [name]: canary });
      assert.ok(problem?.includes(`${name} is not shown (11 bytes); it takes `), problem);
      assert.deepEqual(others, []);
      assert.ok(!problem?.includes(canary));
    }
    const secretNames = Object.values(settingTable).filter((setting) => setting.secret);
    assert.deepEqual(secretNames.map((setting) => setting.name).sort(), [
      'AUTH_SECRET',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
      'BACKUP_PASSPHRASE',
      'DATABASE_DIRECT_URL',
      'DATABASE_URL',
      'HTTPS_PROXY',
      'HTTP_PROXY',
      'METRICS_TOKEN',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'SETTINGS_ENCRYPTION_KEY',
      'SETTINGS_ENCRYPTION_KEY_PREVIOUS',
      'SETUP_CLAIM_TOKEN',
    ]);
  });

  test('cut a long value short', () => {
    const [problem] = problemsOf({ ...secrets, EDITION: 'x'.repeat(5_000) });
    assert.ok(problem !== undefined && problem.length < 200);
  });

  test('a key needs 32 bytes, in any letters', () => {
    assert.equal(load({ SETTINGS_ENCRYPTION_KEY: 'ü'.repeat(16) }).encryptionKey, 'ü'.repeat(16));
    assert.equal(problemsOf({ ...secrets, AUTH_SECRET: 'x'.repeat(31) }).length, 1);
    assert.equal(problemsOf({ ...secrets, SETTINGS_ENCRYPTION_KEY_PREVIOUS: `${keyA},short` }).length, 1);
    assert.deepEqual(load({ SETTINGS_ENCRYPTION_KEY_PREVIOUS: `${keyA}, ,${'y'.repeat(32)}` }).previousEncryptionKeys, [
      keyA,
      'y'.repeat(32),
    ]);
  });

  test('traces take what OpenTelemetry writes, and nothing else', () => {
    const wrong = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization',
      OTEL_RESOURCE_ATTRIBUTES: 'a=%',
      OTEL_TRACES_SAMPLER: 'sometimes',
      OTEL_TRACES_SAMPLER_ARG: '1.5',
    };
    const problems = problemsOf({ ...secrets, ...wrong });
    for (const [index, name] of Object.keys(wrong).entries()) assert.ok(problems[index]?.includes(name), name);
    assert.equal(problems.length, Object.keys(wrong).length);
    assert.deepEqual(parsePairs('authorization=Bearer%20a%2Cb, x-key = 1 ,'), [
      ['authorization', 'Bearer a,b'],
      ['x-key', '1'],
    ]);
  });

  test('rejects a direct database address without a pooler', () => {
    assert.deepEqual(problemsOf({ ...secrets, DATABASE_DIRECT_URL: database }), [
      '  - DATABASE_DIRECT_URL is set without DATABASE_URL; it takes the address behind the pooler in DATABASE_URL',
    ]);
    const both = load({ DATABASE_URL: database, DATABASE_DIRECT_URL: `${database}2` });
    assert.deepEqual([both.databaseUrl, directUrl(both)], [database, `${database}2`]);
    assert.equal(directUrl(load({ DATABASE_URL: database })), database);
  });

  test('scheduled backups beside a database elsewhere need a place', () => {
    const elsewhere = { ...secrets, DATABASE_URL: database, BACKUP_SCHEDULE: 'hourly' };
    assert.deepEqual(problemsOf(elsewhere), [
      '  - BACKUP_SCHEDULE is set without BACKUP_TO; with DATABASE_URL it takes a folder, or s3://bucket/prefix',
    ]);
    assert.equal(load({ ...elsewhere, BACKUP_TO: '/backups' }).backupTo, '/backups');
    assert.equal(load({ ...secrets, BACKUP_SCHEDULE: 'hourly' }).backupTo, undefined);
  });

  test('DATABASE_URL without the secrets says which are missing, and makes no file', () => {
    const dataDir = freshFolder();
    const problems = problemsOf({ DATABASE_URL: database, DATA_DIR: dataDir, AUTH_SECRET: keyA });
    assert.deepEqual(problems, [
      '  - SETTINGS_ENCRYPTION_KEY is not set; with DATABASE_URL you must set it, and keep it as long as the database',
    ]);
    assert.equal(problemsOf({ DATABASE_URL: database, DATA_DIR: dataDir }).length, 2);
    assert.throws(() => statSync(dataDir), { code: 'ENOENT' });
    assert.equal(load({ DATABASE_URL: database }).databaseUrl, database);
    assert.equal(load({ DATABASE_URL: 'postgresql:///homeport?host=/run/postgresql' }).dataDir, '/nowhere/data');
  });
});

describe('NAME_FILE', () => {
  test('holds the value, without the newline at its end', () => {
    const file = join(scratch, 'claim');
    writeFileSync(file, 'let-me-in\n');
    assert.equal(load({ SETUP_CLAIM_TOKEN_FILE: file }).setupClaimToken, 'let-me-in');
    assert.equal(load({ SETUP_CLAIM_TOKEN_FILE: file, SETUP_CLAIM_TOKEN: 'direct' }).setupClaimToken, 'direct');
  });

  test('serves every secret', () => {
    const file = join(scratch, 'key');
    writeFileSync(file, `${keyA}\n`);
    const config = loadConfig({ AUTH_SECRET_FILE: file, SETTINGS_ENCRYPTION_KEY_FILE: file });
    assert.deepEqual([config.authSecret, config.encryptionKey], [keyA, keyA]);
    const url = join(scratch, 'url');
    writeFileSync(url, database);
    assert.equal(load({ DATABASE_URL_FILE: url }).databaseUrl, database);
    assert.equal(load({ SETTINGS_ENCRYPTION_KEY_PREVIOUS_FILE: file }).previousEncryptionKeys[0], keyA);
  });

  test('that is missing or empty is refused', () => {
    const empty = join(scratch, 'empty');
    writeFileSync(empty, '\n');
    assert.deepEqual(problemsOf({ ...secrets, SETUP_CLAIM_TOKEN_FILE: empty }), [
      `  - SETUP_CLAIM_TOKEN_FILE names ${empty}, which is empty`,
    ]);
    assert.deepEqual(problemsOf({ DATABASE_URL: database, AUTH_SECRET: keyA, SETTINGS_ENCRYPTION_KEY_FILE: scratch }), [
      `  - SETTINGS_ENCRYPTION_KEY_FILE names ${scratch}, which cannot be read`,
    ]);
  });
});

describe('secrets.json', () => {
  const read = (dataDir: string): unknown => JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8'));

  test('is made once: mode 0600, a flat object of the two', () => {
    const dataDir = freshFolder();
    const first = loadConfig({ DATA_DIR: dataDir });
    assert.deepEqual(read(dataDir), { AUTH_SECRET: first.authSecret, SETTINGS_ENCRYPTION_KEY: first.encryptionKey });
    assert.equal(statSync(join(dataDir, 'secrets.json')).mode & 0o777, 0o600);
    assert.equal(statSync(dataDir).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(dataDir), ['secrets.json']);
    assert.ok(Buffer.byteLength(first.encryptionKey) >= 32 && first.encryptionKey !== first.authSecret);
    const second = loadConfig({ DATA_DIR: dataDir });
    assert.deepEqual([second.authSecret, second.encryptionKey], [first.authSecret, first.encryptionKey]);
  });

  test('is overridden by a setting, and is not written again', () => {
    const dataDir = freshFolder();
    const first = loadConfig({ DATA_DIR: dataDir });
    const config = loadConfig({ DATA_DIR: dataDir, AUTH_SECRET: keyA });
    assert.deepEqual([config.authSecret, config.encryptionKey], [keyA, first.encryptionKey]);
    assert.deepEqual(read(dataDir), { AUTH_SECRET: first.authSecret, SETTINGS_ENCRYPTION_KEY: first.encryptionKey });
  });

  test('is refused when damaged, quoted nowhere, and left as it is', () => {
    const dataDir = freshFolder();
    const { authSecret, encryptionKey } = loadConfig({ DATA_DIR: dataDir });
    const file = join(dataDir, 'secrets.json');
    const damaged = [
      '',
      '{',
      'null',
      '[]',
      `"${encryptionKey}"`,
      JSON.stringify({ AUTH_SECRET: authSecret, SETTINGS_ENCRYPTION_KEY: 'short' }),
      JSON.stringify({ AUTH_SECRET: authSecret, SETTINGS_ENCRYPTION_KEY: 7 }),
      JSON.stringify({ AUTH_SECRET: authSecret, SETTINGS_ENCRYPTION_KEY: encryptionKey }).slice(0, -3),
      JSON.stringify({ AUTH_SECRET: authSecret }),
      '{}',
    ];
    for (const content of damaged) {
      writeFileSync(file, content);
      const problems = problemsOf({ DATA_DIR: dataDir });
      assert.equal(problems.length, 1, content);
      assert.match(problems[0] ?? '', /secrets\.json (is damaged|lacks)/);
      assert.ok(!problems[0]?.includes(encryptionKey) && !problems[0]?.includes(authSecret));
      assert.equal(readFileSync(file, 'utf8'), content);
    }
    assert.deepEqual(readdirSync(dataDir), ['secrets.json']);
  });

  test('is one and the same for all that start at once', async () => {
    const dataDir = freshFolder();
    const code = `
      const { parentPort, workerData } = require('node:worker_threads');
      import(workerData.module).then(({ loadConfig }) => {
        parentPort.once('message', () => parentPort.postMessage(loadConfig({ DATA_DIR: workerData.dataDir }).encryptionKey));
        parentPort.postMessage('ready');
      });`;
    const workerData = { module: new URL('./config.ts', import.meta.url).href, dataDir };
    const workers = Array.from({ length: 6 }, () => new Worker(code, { eval: true, workerData }));
    const next = (worker: Worker) =>
      new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    await Promise.all(workers.map(next));
    const keys = Promise.all(workers.map(next));
    for (const worker of workers) worker.postMessage('go');
    assert.equal(new Set(await keys).size, 1);
    assert.deepEqual(readdirSync(dataDir), ['secrets.json']);
  });

  test('that must be there is not made', () => {
    const dataDir = freshFolder();
    assert.throws(() => loadConfig({ DATA_DIR: dataDir }, 'must-exist'), ConfigError);
    assert.throws(() => statSync(dataDir), { code: 'ENOENT' });
  });

  test('names the setting of a data folder that cannot be created', () => {
    const file = join(scratch, 'a-file');
    writeFileSync(file, '');
    const [problem] = problemsOf({ DATA_DIR: join(file, 'data') });
    assert.match(problem ?? '', /DATA_DIR is .*ENOTDIR/);
  });
});

test('PREVIEW_ORIGIN is a wildcard over https, or below localhost, and never includes BASE_URL', () => {
  const name = 'PREVIEW_ORIGIN';
  assert.equal(load({ [name]: 'https://*.preview.example.net/' }).previewOrigin, 'https://*.preview.example.net');
  assert.equal(load({ [name]: 'http://*.localhost:3000' }).previewOrigin, 'http://*.localhost:3000');
  refused(name, ['http://*.example.net', 'https://*.net', 'https://x.example.net', 'https://*.10.0.0.1']);
  for (const value of ['https://*.example.org', 'https://*.chat.example.org']) {
    const problems = problemsOf({ ...secrets, BASE_URL: 'https://chat.example.org', [name]: value });
    assert.match(problems.join(), /^ {2}- PREVIEW_ORIGIN is .* includes BASE_URL/);
  }
});

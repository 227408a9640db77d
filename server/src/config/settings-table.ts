import { limits } from '@homeport/contracts/limits';
import { isProxyException } from '../egress/outbound-proxy/outbound-proxy.ts';
import { parseSchedule } from './backup-schedule.ts';
import { adviseOnPostgresUrl, parsePostgresUrl } from './database-url.ts';
import { choice, flag, integer, list, optional, processors, text } from './setting-kinds.ts';
import {
  adviseOnOrigin,
  isCidr,
  isDnsLabel,
  isLongEnough,
  isProxy,
  leastKeyBytes,
  parseDockerHost,
  parseLabels,
  parseOrigin,
  parsePreviewOrigin,
  parseS3Location,
} from './setting-values.ts';
import { tracingSettings } from './tracing-settings.ts';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const keyTakes = `a text of ${leastKeyBytes} bytes or more`;
const madeOnce = 'generated once and kept in `DATA_DIR/secrets.json`; required with `DATABASE_URL`';

/** Sentence about a setting that administrators can also change in the page: `settings/operation.ts`. */
const alsoIn = (page: string) => `Can also be set in the page (Administration › ${page}); this variable wins.`;

/** Every setting (contract.md section 2), in the order of the page. */
export const settingTable = {
  edition: choice('EDITION', ['community', 'managed'], 'community', {
    about:
      '`community`: each user has their own providers. `managed`: one catalogue for all, edited by administrators.',
  }),
  dataDir: text('DATA_DIR', './data', {
    about: 'The folder with all your data: database, secrets, files. Only one process can use it at a time.',
    takes: 'a folder',
  }),
  databaseUrl: {
    ...optional('DATABASE_URL', {
      about:
        'A PostgreSQL of your own, 14 or later. Required for more than one replica. In the password, `#`, `/`, `?` and `%` are written as `%23`, `%2F`, `%3F` and `%25`; `?host=/folder` names a unix socket, `?sslrootcert=/file` a private CA.',
      takes: 'a postgres:// URL',
      defaultText: 'unset: the embedded PostgreSQL in `DATA_DIR`',
      secret: true,
    }),
    parse: parsePostgresUrl,
    advise: adviseOnPostgresUrl,
  },
  databaseDirectUrl: {
    ...optional('DATABASE_DIRECT_URL', {
      about:
        'The same database without the pooler, if `DATABASE_URL` is a pooler in transaction mode, such as PgBouncer. Signals between replicas, migrations and backups use it, and statements are not prepared.',
      takes: 'a postgres:// URL',
      secret: true,
    }),
    parse: parsePostgresUrl,
    advise: adviseOnPostgresUrl,
  },
  databasePoolMax: integer('DATABASE_POOL_MAX', 10, 2, 1_000, {
    about:
      'The most database connections one process opens, plus one for signals. Keep the total of all replicas below `max_connections` of the server; the embedded database accepts 50.',
  }),
  host: text('HOST', '127.0.0.1', {
    about: 'The address to listen on. `0.0.0.0` or `::` means all addresses of this machine.',
    takes: 'an address or a host name',
  }),
  port: integer('PORT', 3000, 0, 65_535, { about: 'The port to listen on; 0 picks a free one.' }),
  baseUrl: {
    ...optional('BASE_URL', {
      about:
        'The address that people open, without a path: Homeport has a host name or a port of its own. Required for https and for every host name except `localhost`. With https, cookies are Secure.',
      takes: 'an http or https origin such as https://chat.example.org',
      defaultText: 'unset: `localhost` and literal addresses over http, as they are typed',
    }),
    parse: parseOrigin,
    advise: adviseOnOrigin,
  },
  previewOrigin: {
    ...optional('PREVIEW_ORIGIN', {
      about:
        'The address of apps that run in workspaces, each under its own host name. All these names must lead to Homeport, with their Host header and a certificate, and belong to a domain that nothing else uses.',
      takes: 'an https origin with a wildcard such as https://*.preview.example.net, or http://*.localhost:3000',
      defaultText:
        'unset: names below `localhost` if Homeport is opened at `localhost` or 127.0.0.1, otherwise no previews',
    }),
    parse: parsePreviewOrigin,
  },
  authSecret: optional('AUTH_SECRET', {
    about: 'Signs session cookies. Changing it signs everybody out and has no other effect.',
    takes: keyTakes,
    defaultText: madeOnce,
    secret: true,
    valid: isLongEnough,
  }),
  encryptionKey: optional('SETTINGS_ENCRYPTION_KEY', {
    about:
      'Encrypts stored credentials. If you lose it, they cannot be read; nothing else is lost. Use no commas, so that it can later be listed as a previous key.',
    takes: keyTakes,
    defaultText: madeOnce,
    secret: true,
    valid: isLongEnough,
  }),
  previousEncryptionKeys: list('SETTINGS_ENCRYPTION_KEY_PREVIOUS', {
    about: 'Earlier keys that can still decrypt. After the command `rotate-keys` they are no longer needed.',
    takes: `texts of ${leastKeyBytes} bytes or more each, separated by commas`,
    secret: true,
    valid: isLongEnough,
  }),
  setupClaimToken: optional('SETUP_CLAIM_TOKEN', {
    about: 'Required to create the first administrator. Set it if others can open the page before you.',
    takes: 'any text',
    secret: true,
  }),
  trustedProxies: list('TRUSTED_PROXIES', {
    about:
      "Reverse proxies whose `x-forwarded-for` is trusted. Without it, every client appears to have the proxy's address.",
    takes: 'addresses or CIDRs such as 10.0.0.0/8, separated by commas',
    secret: false,
    valid: isCidr,
  }),
  allowPrivateEgress: flag('ALLOW_PRIVATE_EGRESS', false, {
    about:
      'Allows providers at loopback, private (RFC 1918), unique-local and shared (100.64/10) addresses. Link-local and metadata addresses are always refused.',
  }),
  allowInsecureHttp: flag('ALLOW_INSECURE_HTTP', false, {
    about: 'Allows providers over plain http. Keys and conversations then travel unencrypted.',
  }),
  httpsProxy: optional('HTTPS_PROXY', {
    about:
      'The proxy for calls to https addresses of providers, MCP servers, identity providers and from workspaces. It must allow `CONNECT` to addresses: names are resolved and checked here.',
    takes:
      'an http or https URL such as http://proxy.example.org:3128, with `name:password@` where the proxy asks for it',
    secret: true,
    valid: isProxy,
  }),
  httpProxy: optional('HTTP_PROXY', {
    about: 'The same for http addresses, where `ALLOW_INSECURE_HTTP` allows them.',
    takes: 'an http or https URL such as http://proxy.example.org:3128',
    secret: true,
    valid: isProxy,
  }),
  noProxy: list('NO_PROXY', {
    about: 'Hosts that are called directly, bypassing the proxy. This machine itself is always called directly.',
    takes: 'host names (with their subdomains), addresses, CIDRs or `*`, separated by commas',
    secret: false,
    valid: isProxyException,
  }),
  maxConnections: integer('MAX_CONNECTIONS', 5_000, 10, 1_000_000, {
    about:
      'The most connections open at the same time; further ones are closed at once. Each open answer or terminal uses one, and a proxy keeps some open.',
  }),
  answersPerAccount: integer('ANSWERS_PER_ACCOUNT', 500, 1, 100_000, {
    about:
      'The most answers that one account can have written at the same time by one process. Further messages wait their turn; nothing is refused.',
  }),
  streamsPerAccount: integer('STREAMS_PER_ACCOUNT', 1_000, 10, 100_000, {
    about:
      'The maximum number of answer streams that one account can have open per process; further ones are refused with `rate_limited`. Answers continue without a stream.',
  }),
  drainSeconds: integer('DRAIN_SECONDS', 0, 0, 300, {
    about:
      'How many seconds the service keeps accepting requests after SIGTERM while `/api/health` answers 503, so that a load balancer stops sending them. Set it longer than the interval of its checks, or to 0 without one.',
  }),
  artifactMaxUploadBytes: integer(
    'ARTIFACT_MAX_UPLOAD_BYTES',
    limits.artifactMaxUploadBytes,
    1,
    limits.uploadBytesMax,
    {
      about: `The largest upload, in bytes. ${alsoIn('Budgets')}`,
    },
  ),
  artifactQuotaMb: integer('ARTIFACT_QUOTA_MB', 0, 0, limits.artifactQuotaMbMax, {
    about: `The maximum total size of the files of one account, in mebibytes: all files that the account put into conversations and projects, including earlier versions. 0 means no limit. ${alsoIn('Budgets')}`,
  }),
  artifactStore: optional('ARTIFACT_STORE', {
    about:
      'The storage for files of conversations and projects: a folder, or a bucket on an S3-compatible server. More than one replica needs a bucket or a shared folder.',
    takes: 'a folder, or s3://bucket/prefix',
    defaultText: '`DATA_DIR/artifacts`',
    valid: (given) => !/^s3:/i.test(given) || parseS3Location(given) !== undefined,
  }),
  awsRegion: text('AWS_REGION', 'us-east-1', { about: 'The region of the bucket.', takes: 'the name of a region' }),
  awsEndpoint: optional('AWS_ENDPOINT_URL_S3', {
    about: 'The S3-compatible server of the bucket, if it is not AWS.',
    takes: 'an http or https URL',
    defaultText: 'unset: AWS',
    valid: (given) => URL.canParse(given) && /^https?:$/.test(new URL(given).protocol),
  }),
  awsAccessKeyId: optional('AWS_ACCESS_KEY_ID', {
    about: 'The access key for the bucket. Required with `s3://`.',
    takes: 'an access key id',
  }),
  awsSecretAccessKey: optional('AWS_SECRET_ACCESS_KEY', {
    about: 'The secret of that key. Required with `s3://`.',
    takes: 'any text',
    secret: true,
  }),
  awsSessionToken: optional('AWS_SESSION_TOKEN', {
    about: 'The session token of temporary credentials.',
    takes: 'any text',
    secret: true,
  }),
  workspaceMode: choice('WORKSPACE_MODE', ['auto', 'local', 'docker', 'kubernetes', 'disabled'], 'auto', {
    about:
      'The runtime of workspaces: in a sandbox on this machine (`local`, Linux with bubblewrap), in containers (`docker`), in a cluster (`kubernetes`). `auto` means `local` if the sandbox works, otherwise `disabled`.',
  }),
  workspaceIdleMinutes: integer('WORKSPACE_IDLE_MINUTES', 30, 1, 10_080, {
    about: 'A workspace is stopped after this many minutes without use. Its files are kept.',
  }),
  workspaceEgress: choice('WORKSPACE_EGRESS', ['proxy', 'none'], 'proxy', {
    about:
      'Network access of workspaces: `proxy` allows requests through the proxy of Homeport, which checks every address; `none` allows none.',
  }),
  workspaceMemoryMb: integer('WORKSPACE_MEMORY_MB', 1024, 128, 1_048_576, {
    about: 'The memory of one workspace in MiB, if the system supports a limit.',
  }),
  workspaceCpus: processors('WORKSPACE_CPUS', 1, 0.1, 256, {
    about: 'The processors of one workspace, if the system supports a limit.',
  }),
  workspaceProcesses: integer('WORKSPACE_PROCESSES', 512, 32, 65_536, {
    about: 'The most processes and threads in one workspace.',
  }),
  workspaceDiskMb: integer('WORKSPACE_DISK_MB', 10_240, 0, 1_073_741_824, {
    about:
      'The most space for the files of one workspace in MiB. Above it, nothing can be written until files are deleted (docs/workspaces.md, "Disk space"). `0`: no limit.',
  }),
  workspaceFiles: integer('WORKSPACE_FILES', 1_000_000, 0, 1_000_000_000, {
    about: 'The most files and folders in one workspace. `0`: no limit.',
  }),
  workspaceModels: flag('WORKSPACE_MODELS', true, {
    about:
      "Whether programs in a workspace can ask its person's models (`OPENAI_BASE_URL`); it counts as the person's usage. Everybody can switch it off for themselves.",
  }),
  workspaceImage: text('WORKSPACE_IMAGE', 'homeport-workspace:latest', {
    about:
      'With `docker` and `kubernetes`: the image of workspaces, the target `workspace` of `deploy/Dockerfile`. Homeport itself never pulls it.',
    takes: 'the name of an image',
  }),
  workspaceDockerHost: text('WORKSPACE_DOCKER_HOST', 'unix:///var/run/docker.sock', {
    about:
      'With `docker`: the address of the engine. Access to it is equivalent to root on its machine (docs/security.md).',
    takes: 'unix:///path or tcp://host:port',
    valid: (given) => parseDockerHost(given) !== undefined,
  }),
  workspaceDockerRuntime: optional('WORKSPACE_DOCKER_RUNTIME', {
    about: 'With `docker`: the OCI runtime of workspaces, such as `runsc` for gVisor. It must be set up in the engine.',
    takes: 'the name of a runtime',
    defaultText: "unset: the engine's own default",
    valid: (given) => /^[\w.-]{1,64}$/.test(given),
  }),
  workspaceNamespace: optional('WORKSPACE_NAMESPACE', {
    about: 'With `kubernetes`: the namespace of workspaces.',
    takes: 'the name of a namespace',
    defaultText: "unset: Homeport's own namespace, or the one in the kubeconfig's context",
    valid: (given) => isDnsLabel(given, 63),
  }),
  workspaceInstallation: text('WORKSPACE_INSTALLATION', 'homeport', {
    about:
      'With `kubernetes`: the beginning of the names of everything that belongs to workspaces. Installations in the same namespace need different values. Changing it starts with empty homes.',
    takes: 'at most 20 lower-case letters, digits and dashes',
    valid: (given) => isDnsLabel(given, 20),
  }),
  workspaceControlUrl: optional('WORKSPACE_CONTROL_URL', {
    about:
      'Required with `kubernetes`: where workspaces reach `WORKSPACE_PORT`, such as http://homeport-workspaces:3001. Homeport resolves its name.',
    takes: 'an http origin',
    valid: (given) => parseOrigin(given)?.startsWith('http:') === true,
  }),
  workspacePort: integer('WORKSPACE_PORT', 3001, 1, 65_535, {
    about:
      'With `kubernetes`: the port on which Homeport and its proxy serve workspaces. Only workspaces need to reach it.',
  }),
  workspaceControlPods: optional('WORKSPACE_CONTROL_PODS', {
    about:
      "With `kubernetes`: the labels of Homeport's own pods, for the network policy of workspaces. Without it, the policy uses the address in `WORKSPACE_CONTROL_URL`.",
    takes: 'name=value pairs, separated by commas',
    valid: (given) => parseLabels(given) !== undefined,
  }),
  workspaceStorageSize: optional('WORKSPACE_STORAGE_SIZE', {
    about: 'With `kubernetes`: the size of new homes. Existing ones keep their size.',
    takes: 'a quantity such as 10Gi',
    defaultText: 'unset: as large as `WORKSPACE_DISK_MB`',
    valid: (given) => /^[1-9]\d{0,8}(Mi|Gi|Ti)$/.test(given),
  }),
  workspaceStorageClass: optional('WORKSPACE_STORAGE_CLASS', {
    about: 'With `kubernetes`: the storage class of new homes.',
    takes: 'the name of a storage class',
    defaultText: "unset: the cluster's default",
    valid: (given) => /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(given),
  }),
  workspaceRuntimeClass: optional('WORKSPACE_RUNTIME_CLASS', {
    about: 'With `kubernetes`: the runtime class of workspaces, such as one for gVisor.',
    takes: 'the name of a runtime class',
    defaultText: "unset: the cluster's default",
    valid: (given) => isDnsLabel(given, 63),
  }),
  metricsToken: optional('METRICS_TOKEN', {
    about: 'The bearer token for `GET /metrics`. Without it, that address does not exist.',
    takes: 'a text without spaces',
    secret: true,
    valid: (token) => /^\S+$/.test(token),
  }),
  ...tracingSettings,
  backupSchedule: optional('BACKUP_SCHEDULE', {
    about: `Makes backups by itself, at times in UTC: \`hourly\`, \`daily 03:00\`, \`weekly sunday 03:00\`. One replica makes each. ${alsoIn('Backups')}`,
    takes: 'hourly, daily or weekly, with a day and a time of day',
    defaultText: 'unset: none',
    valid: (given) => parseSchedule(given) !== undefined,
  }),
  backupTo: optional('BACKUP_TO', {
    about:
      'The destination of scheduled backups. Another disk or a bucket survives the loss of this one. `BACKUP_SCHEDULE` with `DATABASE_URL` requires it.',
    takes: 'a folder, or s3://bucket/prefix',
    defaultText: '`DATA_DIR/backups`; none with `DATABASE_URL`',
    valid: (given) => !/^s3:/i.test(given) || parseS3Location(given) !== undefined,
  }),
  backupKeep: integer('BACKUP_KEEP', 7, 1, limits.backupKeepMax, {
    about: `How many scheduled backups are kept; older ones are removed after the next one. ${alsoIn('Backups')}`,
  }),
  backupPassphrase: optional('BACKUP_PASSPHRASE', {
    about:
      'Encrypts scheduled backups, which then have the keys of the installation as well. Keep it somewhere else, too.',
    takes: 'any text',
    secret: true,
  }),
  backupWorkspaces: flag('BACKUP_WORKSPACES', false, {
    about: `Includes the homes of workspaces in mode \`local\` in scheduled backups. ${alsoIn('Backups')}`,
  }),
  auditDays: integer('AUDIT_DAYS', 400, limits.auditDaysMin, limits.auditDaysMax, {
    about: `For how many days events stay in the audit log; older ones are removed within an hour. ${alsoIn('Audit log')}`,
  }),
  modelTitles: flag('MODEL_TITLES', true, {
    about: 'The model of the lowest tier names new conversations. If false, their first words do.',
  }),
  compactionAt: integer('COMPACTION_AT', 85, 0, 95, {
    about:
      'When a conversation fills this percentage of what its model can read, its earlier messages are summarized. `0`: never; the oldest messages are left out instead.',
  }),
  logLevel: choice('LOG_LEVEL', logLevels, 'info', { about: 'The least severe log level to write.' }),
} as const;

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { lacks } from '../contracts/test/programs.ts';
import { type Caller, freePort, pause, type Running, scratchFolder, setUp, startProduct } from './product.ts';

/**
 * Every block of commands in the documentation is run here unchanged, except for addresses, ports and paths of this
 * test, or by another named test, or it is listed with the reason why it can't be run.
 */

const root = join(import.meta.dirname, '..');
const scratch = scratchFolder();
const clone = join(scratch, 'homeport');
const backups = join(scratch, 'backups');
const withoutCurl = process.env.REQUIRE_CURL !== '1' && lacks('curl');
let product: Running;
let caller: Caller;
let trialPort: number;
const children = new Set<ChildProcess>();
after(() => {
  for (const { pid } of children) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
});

type Way =
  /** Run here; `and` checks the result. */
  | { and: (output: string) => unknown; first?: () => unknown }
  /** It serves until it is stopped. */
  | { serves: true; first?: () => unknown }
  /** Another test does the same; `phrase` is in it. */
  | { test: string; phrase: string }
  /** It is run nowhere. */
  | { reason: string };

const oneBackup = '/backups/homeport-20261122T030000.120Z.tar.enc';
const image = 'acceptance/docker/release-image.test.ts';
const systemd = { test: 'acceptance/release/deb.test.ts', phrase: "'/lib/systemd/system/homeport.service'" };
const passed = (output: string) => assert.match(output, /^ok +database/m);

/** By file and first line of the block. */
const ways: Readonly<Record<string, Way>> = {
  'docs/troubleshooting.md: npm run admin -- doctor': { and: passed },
  'docs/operations.md: npm run admin -- doctor': { and: passed },
  'docs/operations.md: npm run admin -- backup --to /backups/ --passphrase-file /root/homeport-passphrase': {
    first: () => writeFileSync(join(scratch, 'root/homeport-passphrase'), 'a passphrase of this test\n'),
    and: () => {
      const [made = ''] = readdirSync(backups);
      renameSync(join(backups, made), place(oneBackup));
    },
  },
  [`docs/operations.md: npm run admin -- verify ${oneBackup} --passphrase-file /root/homeport-passphrase`]: {
    and: (output) => assert.match(output, /\S/),
  },
  [`docs/operations.md: DATA_DIR=/var/lib/homeport-new npm run admin -- restore ${oneBackup} --passphrase-file /root/homeport-passphrase`]:
    { and: () => assert.ok(existsSync(place('/var/lib/homeport-new/postgres/PG_VERSION'))) },
  'docs/upgrading.md: npm run admin -- restore backup.tar --into /tmp/homeport-trial': {
    first: () => shell('npm run admin -- backup --to backup.tar'),
    serves: true,
  },
  'docs/upgrading.md: git fetch && git worktree add --detach ../homeport-next origin/main': {
    reason: 'it installs from a registry of packages; scripts/launch.test.mjs does that in a clone',
  },
  'docs/upgrading.md: DATA_DIR=../homeport/data npm start': {
    test: 'scripts/launch.test.mjs',
    phrase: "'npm', ['start']",
  },
  'docs/upgrading.md: npx homeport@<version> --version': { test: 'acceptance/release/npm.test.ts', phrase: 'npx' },
  'docs/upgrading.md: apt install ./homeport_<version>_amd64.deb': {
    test: 'acceptance/release/deb.test.ts',
    phrase: 'homeport_',
  },
  'docs/upgrading.md: tar -C /opt -xzf homeport-<version>-linux-amd64.tar.gz': systemd,
  'docs/upgrading.md: git pull && docker compose -f deploy/compose.yaml --profile images build': {
    reason: 'it builds images from a registry of packages; release-image.test.ts builds the same image from a release',
  },
  'docs/upgrading.md: helm upgrade homeport homeport-chart-<version>.tgz --namespace chat --values values.yaml': {
    test: 'acceptance/faults/upgrade.test.ts',
    phrase: "'--is-upgrade'",
  },
  'docs/manifest.md: npm run --silent admin -- export > manifest.yaml': {
    and: () => {
      const manifest = readFileSync(join(clone, 'manifest.yaml'), 'utf8');
      assert.match(manifest, /^version: 1$/m);
      // npm's own output is not in it.
      assert.doesNotMatch(manifest, /^> /m);
      assert.equal(JSON.parse(readFileSync(join(clone, 'manifest.json'), 'utf8')).version, 1);
    },
  },
  "docs/manifest.md: curl --fail-with-body -b cookies.txt -H 'content-type: application/yaml' \\": {
    first: () => {
      const [name, value] = caller.cookie.split(/=(.*)/s);
      writeFileSync(join(clone, 'cookies.txt'), `127.0.0.1\tFALSE\t/\tFALSE\t0\t${name}\t${value}\n`);
      writeFileSync(join(clone, 'manifest.yaml'), 'version: 1\nbranding:\n  productName: Harbour\n');
    },
    and: (output) => assert.match(output, /"path":"branding.productName"/),
  },
  'docs/clients/curl.md: curl https://homeport.example.org/v1/chat/completions \\': {
    test: 'server/test/chat/gateway/gateway-kept.test.ts',
    phrase: '/v1/chat/completions',
  },
  'docs/clients/claude-code.md: export ANTHROPIC_BASE_URL=https://homeport.example.org': {
    test: 'server/test/chat/gateway/gateway-agents.test.ts',
    phrase: 'Claude Code',
  },
  'docs/models.md: node scripts/model-registry.mjs api.json <commit> <day>': {
    test: 'scripts/model-registry.test.mjs',
    phrase: 'creates a registry from a file of models.dev',
  },
  'docs/install.md: npx homeport': { test: 'acceptance/release/npm.test.ts', phrase: "command('npx'" },
  'docs/install.md: PORT=8080 DATA_DIR=/srv/homeport npx homeport': {
    test: 'acceptance/release/npm.test.ts',
    phrase: 'doMainJob(',
  },
  'docs/install.md: apt install ./homeport_0.1.0_amd64.deb': {
    test: 'acceptance/release/deb.test.ts',
    phrase: 'installs a user, a private folder',
  },
  'docs/install.md: tar -xzf homeport-0.1.0-linux-amd64.tar.gz': {
    test: 'acceptance/release/archive.test.ts',
    phrase: "command('tar'",
  },
  'docs/install.md: tar -C /opt -xzf homeport-0.1.0-linux-amd64.tar.gz && ln -sfn homeport-0.1.0-linux-amd64 /opt/homeport':
    systemd,
  'docs/operations.md: useradd --system --home-dir /var/lib/homeport homeport': systemd,
  'docs/install.md: runuser -u homeport -- env HOMEPORT_ENV_FILE=/etc/homeport/homeport.env /opt/homeport/bin/homeport-admin --help':
    { test: 'acceptance/release/deb.test.ts', phrase: 'homeport-admin' },
  'docs/install.md: docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=0.1.0 --target homeport -t homeport:0.1.0 .':
    { test: image, phrase: "'--target', 'homeport'" },
  'docs/operations.md: docker build -f deploy/Dockerfile --target homeport  -t homeport .': {
    reason: 'npm ci within it needs a registry of packages; release-image.test.ts builds the same image from a release',
  },
  'docs/operations.md: cp deploy/env.example deploy/.env            # DOCKER_GID, BASE_URL': {
    reason: 'it builds these images, too',
  },
  'docs/workspaces.md: docker build -f deploy/Dockerfile --target workspace -t homeport-workspace .': {
    reason:
      'it builds this image, too; acceptance/docker/control-plane.test.ts starts the product with workspaces in containers',
  },
  'docs/operations.md: kubectl create namespace chat && kubectl create namespace people': {
    reason:
      'it needs a cluster; scripts/test/test-kubernetes.mjs does it where there is one, kubernetes-chart.test.ts renders the chart',
  },
  'docs/install.md: helm install homeport homeport-chart-0.1.0.tgz --namespace chat --values values.yaml': {
    reason: 'it needs a cluster; kubernetes-chart.test.ts renders the chart',
  },
  'docs/releasing.md: npm run release': { test: 'acceptance/release/reproducible.test.ts', phrase: 'SHA256SUMS' },
  'README.md: git clone <this repository> homeport && cd homeport': {
    test: 'scripts/launch.test.mjs',
    phrase: "'npm', ['start']",
  },
  'README.md: npm test': { reason: 'it runs this test' },
};

type Block = { file: string; text: string };

const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];
for (const folder of ['docs', 'docs/clients']) {
  for (const name of readdirSync(join(root, folder))) if (name.endsWith('.md')) pages.push(`${folder}/${name}`);
}
const blocks: Block[] = pages.flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^( *)```sh\n(.*?)^ *```$/gms)].map(
    ([, indent = '', text = '']) => ({ file, text: text.replace(new RegExp(`^${indent}`, 'gm'), '') }),
  ),
);
const keyOf = ({ file, text }: Block) => `${file}: ${text.split('\n', 1)[0]}`;

test('runs every block of commands, or states why it cannot', () => {
  const found = blocks.map(keyOf);
  assert.deepEqual(
    found.filter((key) => ways[key] === undefined),
    [],
    'blocks that this test does not know',
  );
  assert.deepEqual(
    Object.keys(ways).filter((key) => !found.includes(key)),
    [],
    'blocks that are no longer there',
  );
  for (const [key, way] of Object.entries(ways)) {
    if ('test' in way)
      assert.ok(readFileSync(join(root, way.test), 'utf8').includes(way.phrase), `${key}: ${way.test}`);
  }
});

test('mentions only existing commands', () => {
  const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts);
  const commands = [...readFileSync(join(root, 'docs/commands.md'), 'utf8').matchAll(/^## (.*)$/gm)].map(
    ([, name = '']) => name,
  );
  for (const file of pages) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, script = ''] of text.matchAll(/npm run (?:--silent )?([\w-]+)/g))
      assert.ok(scripts.includes(script), `${file}: ${script}`);
    for (const [, name = ''] of text.matchAll(
      /(?:npm run (?:--silent )?admin --|homeport-admin|homeport admin) ([a-z][a-z -]*)/g,
    )) {
      const words = name.trim();
      const isKnown = commands.some(
        (command) => `${words} `.startsWith(`${command} `) || command.startsWith(`${words} `),
      );
      assert.ok(isKnown || !file.startsWith('docs/'), `${file}: there is no command ${words}`);
    }
  }
});

/** Prepares a clone with its build: the files that `npm` runs, and the built ones. */
before(async () => {
  for (const folder of [backups, join(scratch, 'root'), join(scratch, 'var/lib'), join(scratch, 'tmp'), clone]) {
    mkdirSync(folder, { recursive: true });
  }
  cpSync(join(root, 'package.json'), join(clone, 'package.json'));
  cpSync(join(root, 'scripts'), join(clone, 'scripts'), { recursive: true });
  mkdirSync(join(clone, 'node_modules/node/bin'), { recursive: true });
  symlinkSync(process.execPath, join(clone, 'node_modules/node/bin/node'));
  symlinkSync(process.env.HOMEPORT_DIST ?? join(root, 'dist'), join(clone, 'dist'));
  product = await startProduct(join(clone, 'data'));
  caller = await setUp(product.url);
  trialPort = await freePort();
});

/** Path in the scratch folder for an absolute path of the documentation. */
const place = (path: string) => join(scratch, path);

const placed = (text: string) =>
  text
    .replaceAll(/(?<=[\s=])\/(?=(?:backups|root|var\/lib|tmp)\/)/g, `${scratch}/`)
    .replaceAll('https://chat.example.org', product.url)
    .replaceAll('PORT=3100', `PORT=${trialPort}`);

function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR, PORT: new URL(product.url).port, WORKSPACE_MODE: 'disabled' };
}

async function shell(text: string): Promise<string> {
  const options = { cwd: clone, env: environment(), maxBuffer: 16 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)('sh', ['-euc', placed(text)], options);
  return stdout;
}

/** Runs it until it serves, and stops it as Ctrl-C does. */
async function serve(text: string): Promise<void> {
  const child = spawn('sh', ['-euc', placed(text)], {
    cwd: clone,
    env: environment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const isReady = () =>
    fetch(`http://127.0.0.1:${trialPort}/api/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    assert.equal(child.exitCode, null, output);
    await pause(50);
  }
  process.kill(-(child.pid ?? 0), 'SIGINT');
  await ended;
  children.delete(child);
}

for (const block of blocks) {
  const way = ways[keyOf(block)];
  if (way === undefined || 'test' in way || 'reason' in way) continue;
  test(keyOf(block), { skip: /^curl /m.test(block.text) && withoutCurl }, async () => {
    await way.first?.();
    if ('serves' in way) await serve(block.text);
    else way.and(await shell(block.text));
  });
}

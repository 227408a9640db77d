// The one entry: plain JavaScript for the oldest Node that may start us, no packages, nothing newer than Node 18.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt } from './build-inputs.mjs';
import { ensureInstalled, underLock } from './install.mjs';
import { endLike, run } from './run.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

// What runs under the pinned Node, and whether it needs the built product.
const commands = {
  start: { file: 'dist/server/main.mjs', built: true },
  admin: { file: 'dist/server/admin.mjs', built: true },
  bench: { file: 'acceptance/benchmarks/main.ts', built: true },
  build: { file: 'scripts/build.mjs' },
  check: { file: 'scripts/check.mjs' },
  dev: { file: 'scripts/dev.mjs' },
  test: { file: 'scripts/test.mjs' },
};

async function main([name, ...args]) {
  const command = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined;
  if (command === undefined) {
    console.error(`Usage: npm run <${Object.keys(commands).join(' | ')}>`);
    process.exitCode = 2;
    return;
  }
  const node = await ensureInstalled(root);
  if (command.built) {
    const ended = await ensureBuilt(node);
    if (ended.code !== 0) return endLike(ended);
  }
  const file = join(root, command.file);
  if (!existsSync(file)) throw new Error(`${command.file} does not exist`);
  const options = name === 'start' ? { onMessage: welcome } : name === 'admin' ? {} : { cwd: root };
  endLike(await run(node, [file, ...args], options));
}

/** The server says `{ready: address}` once it answers requests. */
function welcome(message) {
  if (typeof message?.ready !== 'string') return;
  console.error(`\nHomeport is ready: open ${message.ready} in a browser. Ctrl-C stops it.\n`);
}

async function ensureBuilt(node) {
  if (isBuilt(root)) return { code: 0, signal: null };
  return underLock(join(root, '.cache'), () => {
    if (isBuilt(root)) return { code: 0, signal: null };
    return run(node, [join(root, 'scripts/build.mjs')], { cwd: root });
  });
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`Homeport: ${error.message}`);
  process.exitCode = 1;
}

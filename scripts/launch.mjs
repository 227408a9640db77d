// Entry of all npm scripts. Plain JavaScript for the oldest supported Node: no packages, no features newer than Node
// 18.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt } from './build-inputs.mjs';
import { ensureInstalled, underLock } from './install.mjs';
import { endLike, quiet, run } from './run.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

// Scripts that run under the pinned Node, and whether they need the built product. `prepare` only prints that Node's
// path.
const commands = {
  prepare: { built: true },
  bench: { file: 'acceptance/benchmarks/main.ts', built: true, packages: 'all' },
  build: { file: 'scripts/build.mjs' },
  check: { file: 'scripts/check.mjs', packages: 'all' },
  dev: { file: 'scripts/dev.mjs' },
  release: { file: 'scripts/release.mjs' },
  test: { file: 'scripts/test.mjs', packages: 'all' },
};

async function main([name, ...args]) {
  const command = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined;
  if (command === undefined) {
    console.error('Usage: npm start, or npm run <admin | bench | build | check | dev | release | test>');
    process.exitCode = 2;
    return;
  }
  const node = await ensureInstalled(root, command.packages ?? 'product');
  if (command.built) {
    const ended = await ensureBuilt(node);
    if (ended.code !== 0) return endLike(ended);
  }
  // The shell of `npm start` replaces itself with the server, so that no other process remains.
  if (name === 'prepare') return void process.stdout.write(`${node}\n`);
  const file = join(root, command.file);
  if (!existsSync(file)) throw new Error(`${command.file} does not exist`);
  endLike(await run(node, [file, ...args], { cwd: root }));
}

async function ensureBuilt(node) {
  if (isBuilt(root)) return { code: 0, signal: null };
  return underLock(join(root, '.cache'), () => {
    if (isBuilt(root)) return { code: 0, signal: null };
    return run(node, [join(root, 'scripts/build.mjs')], { cwd: root, stdio: quiet });
  });
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`Homeport: ${error.message}`);
  process.exitCode = 1;
}

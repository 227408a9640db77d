// Installs the commit-msg hook in a clone for development. Plain JavaScript for Node 18, without packages.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const hook = `#!/bin/sh
# Checks the first line of commit messages (CONTRIBUTING.md, "Style"). npm install created this file; it never replaces it.
[ -f scripts/commit-message.mjs ] && command -v node >/dev/null || exit 0
exec node scripts/commit-message.mjs "$1"
`;

/**
 * Writes the hook into the clone at `root`, unless there is a hook already or the clone has a hooks path of its own.
 * Does nothing outside of a clone, in continuous integration, and where `npm` installs without development packages.
 * Returns whether it wrote the hook; never throws.
 */
export function installCommitHook(root, environment = process.env) {
  try {
    const omitted = (environment.npm_config_omit ?? '').split(/[\s,]+/);
    if (omitted.includes('dev') || environment.CI || !existsSync(join(root, '.git'))) return false;
    if (git(root, environment, 'config', '--get', 'core.hooksPath') !== undefined) return false;
    const top = git(root, environment, 'rev-parse', '--show-toplevel');
    const folder = git(root, environment, 'rev-parse', '--git-path', 'hooks');
    if (top === undefined || folder === undefined || realpathSync(top) !== realpathSync(root)) return false;
    mkdirSync(resolve(root, folder), { recursive: true });
    // Fails if any file or link of that name exists.
    writeFileSync(resolve(root, folder, 'commit-msg'), hook, { flag: 'wx', mode: 0o755 });
    return true;
  } catch {
    return false;
  }
}

function git(root, environment, ...args) {
  try {
    const { GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, ...env } = environment;
    const options = { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 10_000 };
    return execFileSync('git', args, options).trim();
  } catch {
    return undefined;
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  installCommitHook(dirname(dirname(fileURLToPath(import.meta.url))));
}

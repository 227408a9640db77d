import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ExecRequest } from '@homeport/contracts/workspace/daemon';
import type { Config } from '../config.ts';

/** Environment of commands that depends on the home: the person's name for Git, and the virtual environment of Python. */

const run = promisify(execFile);
const python = '/usr/bin/python3';
const madeWithinMs = 10_000;

/** Variables of commands without a terminal: editors, pagers and questions end at once. */
export const unattended: Readonly<Record<string, string>> = {
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: 'true',
  GIT_SEQUENCE_EDITOR: 'true',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  DEBIAN_FRONTEND: 'noninteractive',
  PIP_NO_INPUT: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
};

type Home = Pick<Config, 'home' | 'commandEnvironment'>;

/** Variables for what exists in the home now. */
export function homeEnvironment({ home, commandEnvironment }: Home): Record<string, string> {
  const folder = join(home, '.workspace/homeport-venv');
  const found: Record<string, string> = {};
  if (existsSync(join(folder, 'bin/python3'))) {
    found.VIRTUAL_ENV = folder;
    found.PATH = `${folder}/bin:${commandEnvironment.PATH ?? ''}`;
  }
  const file = gitConfigOf(home);
  if (existsSync(file)) found.GIT_CONFIG_SYSTEM = file;
  return found;
}

/** Writes what a command needs, if it is missing. Never fails: a command runs without it too. */
export async function prepareHome({ home }: Home, author: ExecRequest['author']): Promise<void> {
  try {
    if (author !== undefined) writeAuthor(gitConfigOf(home), author);
    await makeVenv(join(home, '.workspace/homeport-venv'));
  } catch {
    // The disk is full, or the image has another Python.
  }
}

function gitConfigOf(home: string): string {
  return join(home, '.workspace/gitconfig');
}

/** In place of the system's configuration, which it includes: the person's own ~/.gitconfig wins. */
function writeAuthor(file: string, { name, email }: NonNullable<ExecRequest['author']>): void {
  const text = `[include]\n\tpath = /etc/gitconfig\n[user]\n\tname = ${quote(name)}\n\temail = ${quote(email)}\n`;
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
}

function quote(value: string): string {
  return `"${value.replace(/\p{Cc}/gu, ' ').replace(/["\\]/g, '\\$&')}"`;
}

let making: Promise<void> | undefined;

/** With the system's packages visible; `pip` is the system's, so no file is copied. */
function makeVenv(folder: string): Promise<void> {
  if (existsSync(folder) || !existsSync(python)) return Promise.resolve();
  making ??= create(folder).finally(() => {
    making = undefined;
  });
  return making;
}

async function create(folder: string): Promise<void> {
  // Isolated: nothing of the home runs outside the supervision of commands.
  const args = ['-I', '-m', 'venv', '--without-pip', '--system-site-packages', folder];
  await run(python, args, { timeout: madeWithinMs, env: { PATH: '/usr/bin:/bin' } });
  const script = `#!/bin/sh\nexec '${folder}/bin/python3' -m pip "$@"\n`;
  for (const name of ['pip', 'pip3']) {
    const file = join(folder, 'bin', name);
    writeFileSync(file, script);
    chmodSync(file, 0o755);
  }
}

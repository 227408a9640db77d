// The server from source, restarted on changes, and the browser client by Vite, which forwards /api to it.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';

const root = dirname(import.meta.dirname);
const children = [
  start('server', ['--watch', '--watch-preserve-output', 'server/src/main.ts']),
  start('web', ['node_modules/vite/bin/vite.js', 'web']),
];

function start(name, args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
  child.on('exit', (code, signal) => {
    console.error(`Homeport: ${name} ended (${signal ?? code})`);
    process.exitCode ??= code ?? 0;
    stop('SIGTERM');
  });
  return child;
}

function stop(signal) {
  for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill(signal);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(signal));
console.error(
  `Homeport: the browser client with hot reload is at http://127.0.0.1:5173 (${join('web', 'vite.config.ts')})`,
);

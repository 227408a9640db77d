import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { freePort } from '../../contracts/test/free-port.ts';
import { until } from '../../contracts/test/until.ts';

/** The protocol's own reference server, as a process of its own. */

export async function startEverything(mode: 'streamableHttp' | 'sse'): Promise<{ url: string; child: ChildProcess }> {
  const port = await freePort();
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
  const script = join(dirname(manifest), 'dist/index.js');
  const child = spawn(process.execPath, [script, mode], { env: { PATH: process.env.PATH, PORT: String(port) } });
  let printed = '';
  child.stderr?.on('data', (chunk) => {
    printed += chunk;
  });
  child.stdout?.on('data', (chunk) => {
    printed += chunk;
  });
  await until(async () => {
    if (child.exitCode !== null) throw new Error(printed);
    return printed.includes(String(port));
  });
  return { url: `http://127.0.0.1:${port}/${mode === 'sse' ? 'sse' : 'mcp'}`, child };
}

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../contracts/test/free-port.ts';
import { cores } from './processes.ts';

/** `port` answers through a second nginx; `davPort` itself, and takes a PUT below `/put/` to the same disk. */
export type Nginx = { port: number; davPort: number; stop(): void };

/** Serves the folder on the subject's core; undefined if there is no `nginx` on the path and none named in NGINX. */
export async function startNginx(folder: string): Promise<Nginx | undefined> {
  const program = [process.env.NGINX ?? '', '/usr/sbin/nginx'].find((path) => path !== '' && existsSync(path));
  if (program === undefined) return undefined;
  const [davPort, port] = [await freePort(), await freePort()];
  const scratch = join(folder, 'nginx');
  mkdirSync(scratch);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${scratch}/${name};`,
  );
  writeFileSync(
    join(scratch, 'nginx.conf'),
    `daemon off; worker_processes 2; pid ${scratch}/pid; error_log ${scratch}/error; user root;
    events {}
    http {
      access_log off; sendfile on; client_max_body_size 0; ${temporary.join(' ')}
      server {
        listen 127.0.0.1:${davPort}; root ${folder};
        location /put/ { dav_methods PUT DELETE; create_full_put_path on; }
      }
      server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${davPort}; proxy_max_temp_file_size 0; } }
    }`,
  );
  const args = ['-c', String(cores.subject), program, '-p', scratch, '-c', join(scratch, 'nginx.conf')];
  const child = spawn('taskset', args, { stdio: 'ignore' });
  const stop = () => void child.kill('SIGTERM');
  process.on('exit', stop);
  for (let tries = 0; tries < 200; tries += 1) {
    if (existsSync(join(scratch, 'pid'))) break;
    await delay(20);
  }
  return { port, davPort, stop };
}

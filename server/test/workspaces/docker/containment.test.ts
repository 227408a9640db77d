import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { daemonRequest } from '../../../src/egress/daemon-request.ts';
import { DockerLab, newId, type Started } from './docker-lab.ts';

let lab: DockerLab;
let one: Started;
let other: Started;
const hostService = createServer((_request, response) => void response.end('THE HOST'));

before(async () => {
  lab = await DockerLab.open();
  [one, other] = [await lab.start(newId()), await lab.start(newId())];
  await new Promise<void>((resolve) => hostService.listen(0, '0.0.0.0', resolve));
});
after(async () => {
  hostService.close();
  await lab.close();
});

const rights: Record<string, string> = {
  CapInh: '0000000000000000',
  CapPrm: '0000000000000000',
  CapEff: '0000000000000000',
  CapBnd: '0000000000000000',
  CapAmb: '0000000000000000',
  NoNewPrivs: '1',
  Seccomp: '2',
  Uid: '1000\t1000\t1000\t1000',
};

test('a command has no capability, no way to gain one, and filtered system calls', async () => {
  const { stdout } = await one.run('cat /proc/self/status');
  for (const [name, value] of Object.entries(rights)) {
    assert.equal(new RegExp(`^${name}:\\t(.*)$`, 'm').exec(stdout)?.[1]?.trim(), value, name);
  }
});

const refusedCommands: Record<string, string> = {
  'a mount': 'mount -t tmpfs none /tmp',
  'a user namespace': 'unshare -U true',
  'a user namespace with its root': 'unshare -Ur mount -t tmpfs none /tmp',
  'a mount namespace': 'unshare -m true',
  'a network namespace': 'unshare -n true',
  'the namespace of the first process': 'nsenter -t 1 -m true',
  'a device': 'mknod /tmp/disk b 254 0',
  'another root': 'chroot / true',
  'another host name': 'hostname elsewhere',
  'the clock': 'date -s 2000-01-01',
  'the kernel log': 'dmesg',
  'a system setting': 'echo 1 > /proc/sys/kernel/panic',
  'the magic key': 'echo b > /proc/sysrq-trigger',
  'a kernel object': 'mkdir /sys/fs/cgroup/memory/own',
  'a limit of its own': 'echo 1 > /sys/fs/cgroup/memory/memory.limit_in_bytes',
  'passwords of the system': 'cat /etc/shadow',
  'the folder of root': 'ls /root',
  'memory of the machine': 'cat /dev/mem /dev/kmem /proc/kcore',
  'a file in /': 'touch /file',
  'a file in /usr': 'touch /usr/file',
  'a file in /etc': 'touch /etc/file',
  'another program as daemon': 'echo > /opt/homeport/daemon.cjs',
  'a file beside the sockets': 'touch /run/workspace/file',
  'another token': 'echo wst_mine > /run/workspace/token',
  'no token': 'rm -f /run/workspace/token /run/workspace/daemon-hash && ! ls /run/workspace/token',
  'more processes': 'ulimit -Hu unlimited && ulimit -Hn 1000000',
};
for (const [what, command] of Object.entries(refusedCommands)) {
  test(`refused: ${what}`, async () => {
    const { exitCode, stdout } = await one.run(command);
    assert.notEqual(exitCode, 0, stdout);
  });
}

test('a command sees only its own processes, and nothing of the engine or of Homeport', async () => {
  const { stdout } = await one.run('for p in /proc/[0-9]*; do tr "\\0\\n" "  " < $p/cmdline; echo; done');
  const processes = stdout.split('\n').filter((line) => line !== '');
  assert.ok(processes.length >= 3 && processes.length < 12, stdout);
  assert.ok(
    processes.every((line) =>
      /^(\/sbin\/docker-init|\/usr\/(local\/)?bin\/node|\/usr\/bin\/perl|\/bin\/bash|tr) /.test(line),
    ),
    stdout,
  );
  const { stdout: found } = await one.run(
    `ls -d ${lab.folder} /var/run/docker.sock /run/docker.sock /var/lib/docker /work 2>/dev/null; find / -xdev -name docker.sock 2>/dev/null`,
  );
  assert.equal(found, '');
});

test('mounts contain no secret and nothing of another workspace', async () => {
  const { stdout } = await one.run('ls -R /run /home; cat /proc/mounts; env; cat /proc/*/environ | tr "\\0" "\\n"');
  assert.ok(!stdout.includes(other.id) && !stdout.includes(other.workspaceToken), stdout);
  assert.ok(!stdout.includes(one.workspaceToken) && !stdout.includes(one.token));
  const { stdout: mine } = await one.run('cat "$HOMEPORT_TOKEN_FILE"');
  assert.equal(mine, one.workspaceToken);
});

test('neither the engine nor a list of processes shows a token', async () => {
  const inspection = JSON.stringify(await lab.container(one.id).inspect());
  const top = JSON.stringify(await lab.container(one.id).top());
  for (const secret of [one.token, one.workspaceToken])
    assert.ok(!inspection.includes(secret) && !top.includes(secret));
});

test('has no network but its own loopback', async () => {
  const { stdout } = await one.run('cat /proc/net/dev /proc/net/route');
  const names = [...stdout.matchAll(/^\s*([\w.@-]+):/gm)].map((match) => match[1]);
  assert.deepEqual(names, ['lo']);
});

test('reaches no service of the machine, no metadata service and no public address', async () => {
  const { port } = hostService.address() as AddressInfo;
  const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
  const places = [...own, '127.0.0.1', 'host.docker.internal', '172.17.0.1', '169.254.169.254', '1.1.1.1'];
  const seen = await fetch(`http://127.0.0.1:${port}`).then((response) => response.text());
  assert.equal(seen, 'THE HOST', 'the service that must not be reached is there');
  for (const place of places.map((address) => (address.includes(':') ? `[${address.split('%')[0]}]` : address))) {
    const { exitCode, stdout } = await one.run(`curl --noproxy '*' -sS -m 3 http://${place}:${port}/`);
    assert.notEqual(exitCode, 0, place);
    assert.ok(!stdout.includes('THE HOST'), place);
  }
});

test('an abstract socket of the machine is not visible', async () => {
  const name = `\0homeport-test-${process.pid}`;
  const server = createServer((_request, response) => void response.end('THE HOST'));
  await new Promise<void>((resolve) => server.listen(name, resolve));
  const { exitCode } = await one.run(`curl -sS -m 3 --abstract-unix-socket ${name.slice(1)} http://workspace/`);
  server.close();
  assert.notEqual(exitCode, 0);
});

test('another workspace is unreachable: it has no address, and its socket no name here', async () => {
  const inspected = await lab.container(other.id).inspect();
  assert.equal(inspected.HostConfig.NetworkMode, 'none');
  for (const { IPAddress } of Object.values(inspected.NetworkSettings.Networks)) assert.equal(IPAddress, '');
  const { stdout } = await one.run('find / -xdev -type s 2>/dev/null; find /run -type s');
  const sockets = [...new Set(stdout.split('\n').filter((line) => line !== ''))].sort();
  assert.ok(
    sockets.every((path) =>
      ['/run/daemon/daemon.sock', '/run/workspace/control.sock', '/run/workspace/egress.sock'].includes(path),
    ),
    stdout,
  );
});

test('the daemon accepts only its own token', async () => {
  const address = await lab.runtime.dial(one.id);
  for (const token of ['', other.token, one.workspaceToken]) {
    const { status, body } = await daemonRequest(address, '/v1/processes', {
      headers: { authorization: `Bearer ${token}` },
    });
    body.resume();
    assert.equal(status, 401);
  }
  assert.equal((await one.daemon.health()).generation, one.generation);
});

test('never connects to a socket that a workspace replaced', async () => {
  const victim = await lab.start(newId());
  // The target if Homeport followed the link: the socket of the other workspace.
  const target = join(lab.folder, 'docker', other.id, String(other.generation), 'daemon/daemon.sock');
  const { exitCode } = await victim.run(`rm /run/daemon/daemon.sock && ln -s ${target} /run/daemon/daemon.sock`);
  assert.equal(exitCode, 0);
  // The test holds the first one.
  assert.equal((await victim.daemon.health()).generation, victim.generation);
  await lab.restart();
  await assert.rejects(lab.runtime.dial(victim.id), /something other than a socket/);
  assert.equal((await other.daemon.health()).generation, other.generation);
  await lab.runtime.stop(victim.id, 0);
  assert.deepEqual(await lab.runtime.status(victim.id), { phase: 'stopped', generation: undefined, detail: undefined });
});

test('reaches only the internal endpoints, and the proxy with a token', async () => {
  const ask = (rest: string) => one.run(`curl -sS -m 5 -o /dev/null -w '%{http_code}' ${rest}`);
  const control = '--unix-socket /run/workspace/control.sock';
  assert.equal((await ask(`${control} http://homeport/api/internal/conversations`)).stdout, '418');
  assert.equal((await ask(`${control} http://homeport/api/admin/users`)).stdout, '404');
  assert.equal((await ask('$OPENAI_BASE_URL/models')).stdout, '418', 'models, at an address that programs can use');
  assert.equal((await ask('$OPENAI_BASE_URL/../internal/conversations')).stdout, '404');
  assert.match((await one.run('echo $OPENAI_API_KEY')).stdout, /^wmt_[\w-]{43}\n$/);
  const proxied = await one.run('curl -sS -m 5 -o /dev/null https://example.org/ 2>&1');
  assert.match(proxied.stdout, /407/, 'the lab knows nobody, and the bridge shows what it has');
});

/** Numbers of x86_64. */
const closedCalls: Record<string, number> = {
  mount: 165,
  pivot_root: 155,
  setns: 308,
  unshare: 272,
  open_by_handle_at: 304,
  init_module: 175,
  kexec_load: 246,
  bpf: 321,
  perf_event_open: 298,
  userfaultfd: 323,
  keyctl: 250,
  add_key: 248,
  reboot: 169,
  swapon: 167,
  acct: 163,
};
test('parts of the kernel with frequent vulnerabilities are closed', { skip: process.arch !== 'x64' }, async () => {
  for (const [name, number] of Object.entries(closedCalls)) {
    // 0x10000000 is CLONE_NEWUSER, which of all of these unshare alone understands.
    const program = `$! = 0; my $r = syscall(${number}, 0x10000000, 0, 0, 0, 0); print $r == -1 ? $!+0 : "worked"`;
    const { stdout } = await one.run(`perl -e '${program}'`);
    assert.ok(['1', '38'].includes(stdout), `${name}: ${stdout}`);
  }
});

test('the root is read-only for every owner of its files', async () => {
  const { stdout } = await one.run(
    'awk \'$2 == "/" { print substr($4, 1, 3) }\' /proc/mounts; find / -xdev -type d -writable 2>/dev/null',
  );
  assert.deepEqual(stdout.trim().split('\n').sort(), ['/home/user', '/tmp', 'ro,'], 'two mounts of its own');
});

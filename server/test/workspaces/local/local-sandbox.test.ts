import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../../contracts/test/until.ts';
import { tokensOf } from './host.ts';
import { type Executed, type Host, type Identity, prepareHosts, startHost, whyNotAs } from './host-process.ts';
import { memoryLimit, processesNamed } from './processes.ts';

const node = '/opt/homeport/bin/node';

for (const identity of ['root', 'ordinary user'] as Identity[]) {
  const reason = whyNotAs(identity);
  const isRequired = process.env.REQUIRE_SANDBOX === '1' && identity === 'ordinary user';
  if (reason !== undefined && isRequired) {
    test(`sandboxes as ${identity}`, () => assert.fail(`REQUIRE_SANDBOX=1, but ${reason}`));
    continue;
  }
  describe(`sandboxes as ${identity}`, { skip: reason ?? false }, () => escapes(identity));
}

function escapes(identity: Identity): void {
  let hosts: Awaited<ReturnType<typeof prepareHosts>>;
  let host: Host;
  const inAlice = (command: string): Promise<Executed> => host.exec('alice', command);
  const fails = async (command: string): Promise<Executed> => {
    const result = await inAlice(command);
    assert.equal(result.status, 200, command);
    assert.notEqual(result.exitCode, 0, `${command} succeeded: ${result.stdout}`);
    return result;
  };
  const outputOf = async (command: string): Promise<string> => {
    const result = await inAlice(command);
    assert.equal(result.exitCode, 0, `${command}: ${result.stderr}`);
    return result.stdout.trim();
  };
  /** errno of a system call, made with perl, which every Debian has. 0 on success. */
  const errnoOf = async (expression: string): Promise<number> =>
    Number(await outputOf(`perl -e 'my $r = ${expression}; print defined($r) && $r != -1 ? 0 : $!+0'`));

  before(async () => {
    hosts = await prepareHosts(identity);
    host = await startHost({ identity, ...hosts });
    await host.ask({ ask: 'start', id: 'alice', generation: 1, slot: 1 });
    await host.ask({ ask: 'start', id: 'bob', generation: 1, slot: 2 });
    await host.exec('bob', 'echo bob-only > ~/bob-secret.txt');
  });
  after(async () => {
    for (const id of ['alice', 'bob']) await host?.ask({ ask: 'stop', id, graceMs: 0 }).catch(() => undefined);
    await host?.ask({ ask: 'close' }).catch(() => undefined);
    await host?.kill();
    await hosts?.destroy();
  });

  test('provides a usable machine: a home, tools, a temporary folder, a name for its user', async () => {
    assert.equal(await outputOf('cd ~ && pwd && whoami && hostname && id -u'), '/home/user\nuser\nworkspace\n1000');
    await outputOf(
      'echo data > ~/file && mkdir -p /tmp/a && echo 1 > /tmp/a/b && perl -v > /dev/null && ls /usr/bin > /dev/null',
    );
    assert.equal(await outputOf(`${node} -p 1+1`), '2');
    assert.equal(await outputOf('echo $HOME; test -r "$HOMEPORT_TOKEN_FILE" && echo token'), '/home/user\ntoken');
    const home = join(hosts.dataDir, 'workspaces/alice/home');
    assert.equal(await readFile(join(home, 'file'), 'utf8'), 'data\n');
  });

  test('lists and reaches a port of one workspace there, and nowhere else', async () => {
    const program = `require('http').createServer((q, a) => a.end('served in the sandbox')).listen(4600, '127.0.0.1')`;
    await host.ask({ ask: 'background', id: 'alice', generation: 1, command: `exec ${node} -e "${program}"` });
    const look = async (id: string, port?: number) =>
      (await host.ask({ ask: 'ports', id, generation: 1, port })) as { status: number; text: string };
    await until(async () => (await look('alice', 4600)).status === 101);
    assert.match((await look('alice', 4600)).text, /served in the sandbox$/);
    assert.match((await look('alice')).text, /"port":4600,"command":"[^"]*node -e/);
    assert.deepEqual([(await look('bob', 4600)).status, (await look('bob')).text], [404, '{"ports":[]}']);
    // A port of the machine itself is not reachable either.
    const outside = createServer();
    await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
    assert.equal((await look('alice', (outside.address() as AddressInfo).port)).status, 404);
    outside.close();
  });

  test('files of the machine, of the control plane and of other workspaces do not exist inside', async () => {
    const repository = join(import.meta.dirname, '../../../..');
    for (const path of [
      '/etc/shadow',
      '/etc/sudoers',
      '/root',
      '/var/lib',
      '/var/log',
      '/srv',
      '/boot',
      '/sys/kernel',
      hosts.dataDir,
      repository,
    ]) {
      await fails(`ls -d ${path}`);
    }
    assert.equal(await outputOf('ls /home'), 'user');
    assert.equal(
      await outputOf('find / -xdev -name "*bob*" -not -path "/proc/*" -not -path "/usr/*" 2>/dev/null; true'),
      '',
    );
    assert.equal(await outputOf('grep -rl bob-only / --include=bob-secret.txt 2>/dev/null; true'), '');
    for (const trick of ['/proc/1/root/etc/shadow', '/proc/1/cwd/../../../../etc/shadow', '/proc/self/root/root']) {
      await fails(`cat ${trick}`);
    }
  });

  test('homes, tokens and sockets each belong to one workspace outside', {
    skip: identity === 'root' ? false : 'one user has all',
  }, async () => {
    const root = join(hosts.dataDir, 'workspaces');
    const [alice, bob] = await Promise.all(['alice', 'bob'].map((id) => stat(join(root, id, 'home'))));
    assert.ok(alice !== undefined && bob !== undefined && alice.uid > 65_536 && bob.uid > 65_536);
    assert.notEqual(alice.uid, bob.uid);
    assert.equal(alice.mode & 0o777, 0o700);
    const token = await stat(join(root, 'alice/inside/token'));
    assert.deepEqual([token.uid, token.gid, token.mode & 0o777], [0, alice.gid, 0o440]);
    assert.equal((await stat(join(root, 'alice/host'))).mode & 0o777, 0o700);
  });

  test('sees only its own processes', async () => {
    assert.ok(Number(await outputOf('ls -d /proc/[0-9]* | wc -l')) < 12);
    assert.equal(await outputOf('stat -c %u /proc/[0-9]* 2>/dev/null | sort -u'), '1000');
    await fails(`kill -0 ${process.pid} 2>/dev/null && test ${process.pid} -gt 1000`);
    assert.match(await outputOf('readlink /proc/self/ns/pid'), /^pid:/);
    assert.notEqual(
      await outputOf('readlink /proc/self/ns/pid'),
      await import('node:fs').then((fs) => fs.readlinkSync('/proc/self/ns/pid')),
    );
  });

  test('its processes have no capability, cannot gain any, and run under the system call filter', async () => {
    const status = await outputOf('cat /proc/self/status');
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      assert.match(status, new RegExp(`${set}:\\t0+\\n`));
    assert.match(status, /NoNewPrivs:\t1/);
    assert.match(status, /Seccomp:\t2/);
    assert.match(status, /Groups:\t[065534 ]*\n/);
    await fails('su -c id root < /dev/null');
  });

  test('refuses mounts, namespaces and another root', async () => {
    for (const command of [
      'mount -t tmpfs none /tmp',
      'mount --bind /home/user /usr',
      'umount /usr',
      'unshare -U true',
      'unshare -m true',
      'unshare -n true',
      'unshare -r -m true',
      'chroot /home/user true',
      'nsenter -t 1 -m true',
    ]) {
      await fails(`${command} 2>&1`);
    }
    // clone with CLONE_NEWUSER, and with it hidden in the structure of clone3.
    const arm = process.arch === 'arm64';
    assert.equal(await errnoOf(`syscall(${arm ? 220 : 56}, 0x10000011, 0, 0, 0, 0)`), 1);
    assert.equal(await errnoOf(`syscall(435, 0, 0)`), 38);
  });

  test('parts of the kernel with frequent vulnerabilities are closed', async () => {
    const arm = process.arch === 'arm64';
    const calls = {
      keyctl: [arm ? 219 : 250, 1],
      add_key: [arm ? 217 : 248, 1],
      bpf: [arm ? 280 : 321, 1],
      perf_event_open: [arm ? 241 : 298, 1],
      userfaultfd: [arm ? 282 : 323, 1],
      fsopen: [430, 1],
      open_tree: [428, 1],
      pidfd_getfd: [438, 1],
      io_uring_setup: [425, 38],
      'a call of a newer kernel': [1_000, 38],
    } as const;
    for (const [name, [number, errno]] of Object.entries(calls)) {
      assert.equal(await errnoOf(`syscall(${number}, 0, 0, 0, 0, 0)`), errno, name);
    }
    for (const family of [17, 38, 40])
      assert.equal(await errnoOf(`socket(my $s, ${family}, 3, 0)`), 97, `family ${family}`);
  });

  test('injects no input into a terminal', async () => {
    assert.equal(await errnoOf('ioctl(STDIN, 0x5412, my $b = "x")'), 1);
    assert.equal(await errnoOf('ioctl(STDIN, 0x541c, my $b = "x")'), 1);
    await fails('test -w /dev/console || test -e /dev/tty1');
  });

  test('reaches no services of the machine: ports, abstract sockets, its addresses', async () => {
    let visits = 0;
    const tcp = createServer((socket) => {
      visits += 1;
      socket.destroy();
    });
    const abstract = createServer((socket) => {
      visits += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => tcp.listen(0, '0.0.0.0', resolve));
    const name = `homeport-test-${process.pid}`;
    await new Promise<void>((resolve) => abstract.listen(`\0${name}`, resolve));
    try {
      const address = tcp.address();
      const port = typeof address === 'object' ? address?.port : 0;
      const own = Object.values(networkInterfaces()).flatMap((list) =>
        (list ?? []).filter(({ family }) => family === 'IPv4'),
      );
      for (const { address: ip } of own) await fails(`timeout 5 bash -c 'echo > /dev/tcp/${ip}/${port}'`);
      await fails(
        `perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack("Sa*", 1, "\\0${name}")) or die "refused"'`,
      );
      for (const place of ['egress.sock', 'control.sock'])
        assert.equal(await outputOf(`test -S /run/workspace/${place} && echo yes`), 'yes');
      assert.equal(visits, 0);
    } finally {
      tcp.close();
      abstract.close();
    }
  });

  test('reaches the internet only through the proxy', async () => {
    assert.equal(await outputOf("sed -n 's/^ *\\([a-z0-9]*\\):.*/\\1/p' /proc/net/dev"), 'lo');
    for (const target of ['1.1.1.1/443', '169.254.169.254/80', '10.0.0.1/22'])
      await fails(`timeout 5 bash -c 'echo > /dev/tcp/${target}'`);
    await fails('timeout 5 getent hosts example.org');
  });

  const viaBridge = (line: string): Promise<string> =>
    outputOf(
      `timeout 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; printf "${line} HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n" >&3; head -n 1 <&3'`,
    );

  test('the proxy refuses metadata services, the machine itself and private networks, regardless of the setting for providers', async () => {
    for (const target of [
      '169.254.169.254:443',
      '127.0.0.1:443',
      'localhost:443',
      '10.0.0.1:443',
      '192.168.1.1:22',
      '[::1]:443',
      '[fd00:ec2::254]:443',
      '100.100.100.200:443',
      'metadata.google.internal:443',
    ]) {
      assert.match(await viaBridge(`CONNECT ${target}`), /^HTTP\/1.1 403 /, target);
    }
    for (const url of ['http://169.254.169.254/latest/meta-data/', 'http://127.0.0.1/', 'http://[::1]:3000/']) {
      assert.match(await viaBridge(`GET ${url}`), /^HTTP\/1.1 403 /, url);
    }
    assert.match(await viaBridge('CONNECT nonsense'), /^HTTP\/1.1 400 /);
    assert.match(await viaBridge('CONNECT 1.1.1.1:25'), /^HTTP\/1.1 403 /);
  });

  const overSocket = (socket: string, headers: Record<string, string>, path: string, method = 'GET'): Promise<string> =>
    outputOf(
      `${node} -e '${`const r = require("http").request({socketPath: "/run/workspace/${socket}", method: "${method}", path: "${path}", headers: ${JSON.stringify(headers)}}, (a) => { let t = ""; a.on("data", (d) => t += d).on("end", () => console.log(a.statusCode, t.trim())); }); r.on("connect", (a) => { console.log(a.statusCode); process.exit(); }); r.end();`}'`,
    );

  test('the proxy authenticates its clients: refuses a missing, an invalid and an expired token', async () => {
    for (const token of [undefined, 'wst_madeup', tokensOf('alice', 9).workspace]) {
      const headers: Record<string, string> = token === undefined ? {} : { 'proxy-authorization': `Bearer ${token}` };
      assert.match(await overSocket('egress.sock', headers, '1.1.1.1:443', 'CONNECT'), /^407/);
    }
  });

  test("reaches only the control plane's endpoints for workspaces", async () => {
    assert.equal(
      await overSocket('control.sock', {}, '/api/internal/artifacts'),
      '200 control plane: /api/internal/artifacts',
    );
    for (const path of [
      '/',
      '/api/me',
      '/api/internal',
      '/api/internal/../me',
      '/api/internal/%2e%2e/me',
      '/api/internal/x/..\\\\..\\\\../me',
      '//api/internal/x',
      '/metrics',
      '/api/admin/users',
    ]) {
      assert.match(await overSocket('control.sock', {}, path), /^404 /, path);
    }
  });

  test('only the holder of its token can use a daemon', async () => {
    const [alice, bob] = [tokensOf('alice', 1), tokensOf('bob', 1)];
    const bootId = async (token: string): Promise<unknown> => {
      const { text } = (await host.ask({ ask: 'health', id: 'alice', token })) as { text: string };
      return JSON.parse(text).bootId;
    };
    assert.equal(typeof (await bootId(alice.daemon)), 'string');
    for (const token of [bob.daemon, alice.workspace, 'x']) assert.equal(await bootId(token), undefined);
    assert.equal(await outputOf('cat /run/workspace/token'), alice.workspace);
  });

  test('cannot replace the files that it shares with the control plane', async () => {
    for (const name of ['token', 'daemon-hash', 'control.sock', 'egress.sock']) {
      await fails(`rm -f /run/workspace/${name}`);
      await fails(`ln -sf /tmp/x /run/workspace/${name}`);
      await fails(`mv /run/workspace/${name} /tmp/x`);
    }
    await fails('mv /run/workspace /run/other');
    assert.equal(await outputOf('find / -name daemon.sock -not -path "/proc/*" 2>/dev/null; true'), '');
  });

  test('cannot write outside its own folders', async () => {
    for (const path of [
      '/x',
      '/usr/x',
      '/etc/x',
      '/etc/passwd',
      '/opt/homeport/x',
      '/opt/homeport/bin/node',
      '/run/x',
      '/run/workspace/x',
      '/dev/x',
      '/home/x',
      '/var/x',
    ]) {
      await fails(`echo x >> ${path}`);
    }
    for (const path of [
      '/proc/sys/kernel/hostname',
      '/proc/sys/kernel/core_pattern',
      '/proc/sysrq-trigger',
      '/proc/1/oom_score_adj',
      '/proc/sys/vm/drop_caches',
    ]) {
      await fails(`echo -900 > ${path}`);
    }
    await fails('mknod /tmp/disk b 254 0 && head -c 1 /tmp/disk');
    await fails('test -e /dev/vda || test -e /dev/sda || test -e /dev/mem || test -e /dev/kvm || test -e /dev/fuse');
  });

  test('no token is in an environment or a command line, inside or outside', async () => {
    const secrets = ['alice', 'bob'].flatMap((id) => Object.values(tokensOf(id, 1)));
    const inside = await outputOf('cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"');
    for (const secret of secrets) assert.ok(!inside.includes(secret));
    assert.ok(!inside.includes(hosts.dataDir), 'no path of the machine');
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      for (const file of ['environ', 'cmdline']) {
        const text = await readFile(join('/proc', pid, file), 'utf8').catch(() => '');
        for (const secret of secrets) assert.ok(!text.includes(secret), `/proc/${pid}/${file}`);
      }
    }
  });

  test('the daemon has no file of the machine open', async () => {
    const links = await outputOf(
      'for p in /proc/[0-9]*; do case "$(tr "\\0" " " < $p/cmdline 2>/dev/null)" in *node*daemon*) readlink $p/fd/* ;; esac; done; true',
    );
    for (const link of links.split('\n').filter(Boolean)) {
      assert.match(
        link,
        /^(\/dev\/(null|urandom|random|ptmx)|(socket|pipe|anon_inode):.*|\/home\/user\/.*|\/(usr|opt)\/.*|\/proc\/.*|\/tmp\/.*)$/,
        link,
      );
    }
  });

  test('runs as many processes as allowed and no more, without an effect on its neighbor', async () => {
    const limit = Number(await outputOf('ulimit -u'));
    assert.ok(limit > 0 && limit <= 128, `the limit is in place: ${limit}`);
    // Three hundred, no more, which all end on their own.
    const command = 'for i in $(seq 300); do sleep 60 & done 2>/dev/null; wait';
    await host.ask({ ask: 'background', id: 'alice', generation: 1, command });
    const sleepers = await until(async () => {
      const found = await processesNamed(hosts.dataDir, /^sleep 60$/);
      return found.length >= limit - 40 && found;
    });
    assert.ok(sleepers.length <= limit, `${sleepers.length} processes`);
    const neighbour = await host.exec('bob', 'for i in 1 2 3; do sleep 0.01 & done; wait; echo well');
    assert.equal(neighbour.stdout, 'well\n');
    await host.ask({ ask: 'stop', id: 'alice', graceMs: 0 });
    await host.ask({ ask: 'start', id: 'alice', generation: 1, slot: 1 });
    assert.equal(await outputOf('echo again'), 'again');
  });

  test('a full temporary folder affects only its workspace', async () => {
    const result = await fails('head -c 400M /dev/zero > /tmp/big');
    assert.match(result.stderr, /No space left/);
    assert.ok(Number(await outputOf('stat -c %s /tmp/big')) <= 256 * 1024 * 1024);
    await outputOf('rm /tmp/big');
    await fails('head -c 400M /dev/zero > /dev/shm/big');
    await outputOf('rm /dev/shm/big');
  });

  test('kills a process that exceeds the memory limit, and the daemon survives', async (context) => {
    const groups = await memoryLimit(hosts.dataDir, 'alice');
    if (groups === undefined) return context.skip('no control group of memory can be written to here');
    assert.equal(groups, 512 * 1024 * 1024, 'the limit is in place');
    const before = JSON.parse(
      ((await host.ask({ ask: 'health', id: 'alice', token: tokensOf('alice', 1).daemon })) as { text: string }).text,
    );
    // It stops on its own at 1.5 times the limit.
    const result = await fails(
      `${node} -e 'const a = []; for (let i = 0; i < 96; i += 1) a.push(Buffer.alloc(8 << 20, 1)); console.log("all of it")'`,
    );
    assert.ok(!result.stdout.includes('all of it'));
    const after = JSON.parse(
      ((await host.ask({ ask: 'health', id: 'alice', token: tokensOf('alice', 1).daemon })) as { text: string }).text,
    );
    assert.equal(after.bootId, before.bootId);
  });

  test('runs on a deep folder, refuses a second Homeport there, and notices a daemon that ends', async () => {
    await assert.rejects(startHost({ identity, ...hosts }), /another Homeport/);
    const ended = await inAlice(
      'kill -9 $(for p in /proc/[0-9]*; do case "$(tr "\\0" " " < $p/cmdline 2>/dev/null)" in *node*daemon*) basename $p ;; esac; done)',
    ).catch(() => undefined);
    assert.ok(ended === undefined || ended.exitCode !== 0);
    const status = await until(async () => {
      const now = (await host.ask({ ask: 'status', id: 'alice' })) as { phase: string; detail?: string };
      return now.phase === 'stopped' && now.detail !== undefined && now;
    });
    assert.match(status.detail ?? '', /ended/);
    await host.ask({ ask: 'start', id: 'alice', generation: 2, slot: 1 });
    assert.equal((await host.exec('alice', 'cat ~/file', 2)).stdout, 'data\n');
    assert.equal((await host.exec('alice', 'true', 1)).status, 401, 'the old token is dead');
  });

  test('after a kill, the next process takes over the workspace with everything in it, and ends it with every hidden process', async () => {
    const command = 'env -i setsid -f sleep 7001; exec sleep 7000';
    const begun = await host.ask({ ask: 'background', id: 'bob', generation: 1, command });
    assert.match(JSON.stringify(begun), /start/);
    const sleepers = await until(async () => {
      const found = await processesNamed(hosts.dataDir, /^sleep 700[01]$/);
      return found.length === 2 && found;
    });
    await host.kill();
    host = await startHost({ identity, ...hosts });
    assert.deepEqual((await host.ask({ ask: 'list' })) as unknown[], [
      { id: 'alice', generation: 2 },
      { id: 'bob', generation: 1 },
    ]);
    assert.equal((await host.exec('bob', 'cat ~/bob-secret.txt')).stdout, 'bob-only\n');
    const door = await host.exec(
      'bob',
      `${node} -e 'require("http").get({socketPath: "/run/workspace/control.sock", path: "/api/internal/x"}, (a) => a.on("data", (d) => console.log(String(d))))'`,
    );
    assert.equal(door.stdout, 'control plane: /api/internal/x\n', 'its way to the control plane is back');
    // The same generation again changes nothing.
    await host.ask({ ask: 'start', id: 'bob', generation: 1, slot: 2 });
    assert.equal((await processesNamed(hosts.dataDir, /^sleep 700[01]$/)).length, sleepers.length);
    await host.ask({ ask: 'stop', id: 'bob', graceMs: 500 });
    assert.deepEqual(await processesNamed(hosts.dataDir, /^sleep 700[01]$/), []);
    assert.deepEqual(await host.ask({ ask: 'list' }), [{ id: 'alice', generation: 2 }]);
    await assert.rejects(host.exec('bob', 'true'));
    assert.ok(!existsSync(join(hosts.dataDir, 'workspaces/bob/inside/token')));
    await host.ask({ ask: 'stop', id: 'bob', graceMs: 0 });
  });

  test('a host that was killed during a start leaves no process running', async () => {
    const starting = host.ask({ ask: 'start', id: 'bob', generation: 2, slot: 2 }).catch(() => undefined);
    await until(async () => (await processesNamed(hosts.dataDir, /daemon/)).length > 2);
    await host.kill();
    await starting;
    host = await startHost({ identity, ...hosts });
    await host.ask({ ask: 'start', id: 'bob', generation: 3, slot: 2 });
    assert.equal((await host.exec('bob', 'echo third', 3)).stdout, 'third\n');
    const daemons = await processesNamed(hosts.dataDir, /^\S*node \S*daemon/);
    assert.equal(daemons.length, 2, daemons.join('\n'));
  });

  test('an abandoned start leaves nothing', async () => {
    await host.ask({ ask: 'stop', id: 'bob', graceMs: 0 });
    for (const abortAfterMs of [1, 10, 20]) {
      await assert.rejects(host.ask({ ask: 'start', id: 'bob', generation: 4, slot: 2, abortAfterMs }));
    }
    assert.deepEqual(await host.ask({ ask: 'list' }), [{ id: 'alice', generation: 2 }]);
    assert.equal((await processesNamed(hosts.dataDir, /^\S*node \S*daemon/)).length, 1);
  });

  test('runs in a folder as deep as the system allows', async () => {
    const deep = join(hosts.dataDir, ...Array.from({ length: 12 }, () => 'a-rather-long-name'));
    await mkdir(deep, { recursive: true });
    if (identity === 'ordinary user' && process.getuid?.() === 0) {
      const { execFileSync } = await import('node:child_process');
      execFileSync('chown', ['-R', String(host.uid), join(hosts.dataDir, 'a-rather-long-name')]);
    }
    const other = await startHost({ identity, dataDir: deep, groupFiles: hosts.groupFiles });
    try {
      await other.ask({ ask: 'start', id: 'alice', generation: 1, slot: 1 });
      assert.equal((await other.exec('alice', 'echo deep')).stdout, 'deep\n');
    } finally {
      await other.ask({ ask: 'stop', id: 'alice', graceMs: 0 });
      await other.ask({ ask: 'close' });
      await other.kill();
    }
  });
}

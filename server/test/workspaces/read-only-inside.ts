import assert from 'node:assert/strict';
import { effectCommands, prepareHome } from '../../../contracts/test/effect-commands.ts';

type Ended = { exitCode: number | null; stdout: string; stderr: string };
type Inside = {
  run(command: string): Promise<Ended>;
  background(command: string): Promise<unknown>;
  read(command: string): Promise<Ended>;
};

const port = 4700;
const socket = '/tmp/target';
const reached = '/home/user/reached';

/** Listens inside the workspace and starts a victim; each visit and the victim's end become a line of a file. */
const targets = (node: string): string => {
  const source = `
    const note = (text) => fs.appendFileSync("${reached}", text + "\\n");
    const serve = (where) => net.createServer((one) => { note("visit"); one.on("error", () => {}).destroy(); }).listen(where);
    serve({ port: ${port}, host: "127.0.0.1" });
    serve({ path: "${socket}" });
    dgram.createSocket("udp4", () => note("datagram")).bind(${port}, "127.0.0.1");
    const victim = child_process.spawn("sleep", ["86399"]);
    victim.on("exit", () => note("killed"));
    fs.writeFileSync("/tmp/victim", String(victim.pid));`;
  return `exec ${node} -e '${source}'`;
};

/** Everything in the home except the daemon's own folder: names, modes, times and contents. */
const look = `cd ~ && find . -path ./.workspace -prune -o -printf '%p %m %T@ %n %U %G\\n' | sort && find . -path ./.workspace -prune -o -type f -exec md5sum {} + | sort`;

/** Fails at the first of the commands that has an effect in this workspace without approval. */
export async function assertNoEffects({ run, background, read }: Inside, node: string): Promise<void> {
  const outputOf = async (command: string): Promise<string> => {
    const { exitCode, stdout, stderr } = await run(command);
    assert.equal(exitCode, 0, `${command}: ${stderr}`);
    return stdout;
  };
  await outputOf(prepareHome);
  await background(targets(node));
  const victim = Number(
    await outputOf(
      'for i in {1..100}; do test -s /tmp/victim && break; sleep 0.1; done; cat /tmp/victim || tail ~/.workspace/exec/*.log >&2',
    ),
  );
  assert.ok(victim > 1);
  const untouched = await outputOf(look);
  const commands = effectCommands({ port, socket, victim });
  assert.ok(commands.length >= 200);
  for (const command of commands) await read(command);
  assert.equal(await outputOf(look), untouched);
  assert.equal(await outputOf('ls /tmp'), 'target\nvictim\n');
  for (const [command, expected] of reading) assert.match((await read(command)).stdout, expected, command);
  assert.notEqual((await read('cat /run/workspace/*')).exitCode, 0);
  assert.doesNotMatch((await read('env; cat /proc/[0-9]*/environ')).stdout, /HOMEPORT_TOKEN_FILE|HOMEPORT_DAEMON/);
  // The targets answer.
  await outputOf(
    `: > /dev/tcp/127.0.0.1/${port}; for i in {1..100}; do test -s ${reached} && exit; sleep 0.1; done; exit 1`,
  );
}

const reading: readonly (readonly [string, RegExp])[] = [
  ['ls -la', /script\.sh/],
  ['cat file folder/inner | wc -l', /^2\n$/],
  ['head -n 1 file', /^a\n$/],
  ['git -C repo log --oneline', /two/],
  ['git -C repo diff', /\+3/],
  ['find . -name "in*"', /folder\/inner/],
  ['grep -rn b folder', /inner:1:b/],
];

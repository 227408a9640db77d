import assert from 'node:assert/strict';
import { createHash, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { seededRandom } from '../../../contracts/test/seeded-random.ts';
import { startChanges, treeOf } from './changes-harness.ts';

const turns = Number(process.env.HOMEPORT_UNDO_TURNS ?? 20);
const seed = Number(process.env.HOMEPORT_UNDO_SEED ?? randomInt(1_000_000));

/** Ways to change a few paths again and again; each is a line of shell. */
function chaos({ below, pick }: ReturnType<typeof dice>) {
  const path = (): string => Array.from({ length: 1 + below(3) }, () => pick(['a', 'b', 'c d', 'é', '.e'])).join('/');
  const quoted = (): string => `'${path()}'`;
  const operations: (() => string)[] = [
    () => `mkdir -p "$(dirname ${quoted()})"; echo ${below(1e9)} > ${quoted()}`,
    () => `p=${quoted()}; mkdir -p "$(dirname "$p")"; echo ${below(1e9)} >> "$p"`,
    () => `rm -rf ${quoted()}`,
    () => `mv -T ${quoted()} ${quoted()}`,
    () => `cp -rT ${quoted()} ${quoted()}`,
    () => `ln -sfn ${quoted()} ${quoted()}`,
    // A folder stays readable: an ordinary user could not compare the trees.
    () =>
      `p=${quoted()}; chmod ${pick(['600', '644', '755', '4755', '700', '444'])} "$p"; [ ! -d "$p" ] || chmod u+rwx "$p"`,
    () => `p=${quoted()}; [ -d "$p" ] || head -c ${300_000 + below(2_000_000)} /dev/urandom > "$p"`,
    () => `p=${quoted()}; [ -f "$p" ] && truncate -s ${below(9)}M "$p"`,
    () => `p=${quoted()}; [ -f "$p" ] && printf x | dd of="$p" bs=1 conv=notrunc status=none`,
    () => `mkdir -p ${quoted()}; ln ${quoted()} ${quoted()}`,
  ];
  const commands = (): string => {
    const lines = Array.from({ length: 1 + below(6) }, () => pick(operations)());
    return `(${lines.join('\n')}) 2>/dev/null; true`;
  };
  return { path, commands };
}

const none = { conflicts: [], skipped: [] };

test(`restores the tree bit for bit by undo and redo after random turns (seed ${seed})`, async (t) => {
  const { home, run, put, apply } = await startChanges(t);
  const { below, pick } = dice(seed);
  const { path, commands } = chaos({ below, pick });
  for (let turn = 0; turn < turns; turn += 1) {
    const before = treeOf(home);
    const id = `t${turn}`;
    for (let call = 0; call <= below(3); call += 1) {
      if (below(4) === 0) await put(id, path(), `written ${below(1e9)}`).catch(() => undefined);
      await run(id, commands());
    }
    const after = treeOf(home);
    const where = `turn ${turn} of seed ${seed}`;
    const undone = await apply(id, 'undo').catch(() => undefined);
    if (undone === undefined) assert.deepEqual(after, before, where);
    else {
      assert.deepEqual({ ...undone, applied: 0 }, { ...none, applied: 0 }, where);
      assert.deepEqual(treeOf(home), before, `undo of ${where}`);
      if (below(4) === 0) continue;
      assert.deepEqual({ ...(await apply(id, 'redo')), applied: 0 }, { ...none, applied: 0 }, where);
      assert.deepEqual(treeOf(home), after, `redo of ${where}`);
    }
  }
});

test(`keeps the person’s edits in an undo of random turns (seed ${seed})`, async (t) => {
  const { home, run, put, apply } = await startChanges(t);
  const { below, pick } = dice(seed + 1);
  const { path, commands } = chaos({ below, pick });
  let edits = 0;
  /** Last edit of the person at each path, during and since the turn, in the format of `treeOf`. */
  const mine = new Map<string, string>();
  const edit = async (): Promise<void> => {
    const [where, text] = [path(), `mine ${++edits}`];
    mine.set(where, createHash('sha256').update(text).digest('hex'));
    if (below(2) === 0) await put(undefined, where, text).catch(() => undefined);
    else {
      const print = `[ -d '${where}' ] || printf %s '${text}' > '${where}'`;
      await run(undefined, `mkdir -p "$(dirname '${where}')"; ${print}; true`);
    }
  };
  for (let turn = 0; turn < turns; turn += 1) {
    mine.clear();
    const id = `t${turn}`;
    const where = `turn ${turn} of seed ${seed}`;
    const meanwhile = below(2) === 0;
    await Promise.all([run(id, commands()), ...(meanwhile ? [edit()] : [])]);
    for (let count = below(3); count > 0; count -= 1) await edit();
    const before = treeOf(home);
    const { conflicts } = await apply(id, 'undo').catch(() => none);
    const after = treeOf(home);
    if (conflicts.length > 0) {
      assert.deepEqual(after, before, `${where}: a refused undo writes nothing`);
      if (below(2) === 0) continue;
      const { skipped } = await apply(id, 'undo', { force: true });
      if (skipped.length > 0) continue;
      await apply(id, 'redo', { force: true });
      assert.deepEqual(treeOf(home), before, `${where}: a redo brings back what force gave up`);
    } else {
      const lost = [...mine].filter(([, text]) => has(before, text) && !has(after, text));
      assert.deepEqual(lost, [], `${where} lost what the person wrote`);
    }
  }
});

/** True if a file of the tree has this content. */
function has(tree: Record<string, string>, hash: string): boolean {
  return Object.values(tree).some((entry) => entry.endsWith(` ${hash}`));
}

/** Draws from a seed, so that a failing run can be repeated. */
function dice(start: number) {
  const next = seededRandom(start);
  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <T>(choices: readonly [T, ...T[]] | readonly T[]): T => {
    const chosen = choices[below(choices.length)];
    if (chosen === undefined) throw new Error('nothing to choose from');
    return chosen;
  };
  return { below, pick };
}

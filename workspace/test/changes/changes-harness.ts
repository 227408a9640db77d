import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type ChangedFile, changesApplied, type TurnChanges, turnChanges } from '@homeport/contracts/workspace/daemon';
import { trackActivity } from '../../src/daemon/activity.ts';
import { type ChangeBounds, Changes } from '../../src/daemon/changes/changes.ts';
import type { Daemon } from '../../src/daemon/state.ts';
import { exitOf, type RunningDaemon, startDaemon, textOf } from '../running-daemon.ts';

/** Everything in a folder: kind, mode and content of each path, but for what the daemon keeps. */
export function treeOf(home: string, folder = '', tree: Record<string, string> = {}): Record<string, string> {
  for (const name of readdirSync(join(home, folder))) {
    const path = folder === '' ? name : `${folder}/${name}`;
    if (path === '.workspace') continue;
    const stats = lstatSync(join(home, path));
    const mode = (stats.mode & 0o7777).toString(8);
    if (stats.isSymbolicLink()) tree[path] = `link ${readlinkSync(join(home, path))}`;
    else if (stats.isDirectory()) {
      tree[path] = `folder ${mode}`;
      treeOf(home, path, tree);
    } else
      tree[path] = `file ${mode} ${createHash('sha256')
        .update(readFileSync(join(home, path)))
        .digest('hex')}`;
  }
  return tree;
}

/** A daemon whose home outlives it. */
export async function startChanges(t: TestContext, base = mkdtempSync(join(tmpdir(), 'hp-changes-'))) {
  const home = join(base, 'home');
  mkdirSync(home, { recursive: true });
  const daemon = await startDaemon({ HOMEPORT_HOME: home });
  t.after(async () => {
    await daemon.stop();
    rmSync(base, { recursive: true, force: true });
  });
  return { ...withTurns(daemon), base, home, daemon };
}

/** Changes of a home within these bounds, without a daemon. */
export function bareChanges(t: TestContext, bounds: Partial<ChangeBounds> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'hp-bare-changes-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const log = (message: string, error?: unknown): never => assert.fail(`${message}: ${error}`);
  const daemon = { config: { home }, activity: trackActivity(), log } as unknown as Daemon;
  const wide: ChangeBounds = { entries: 20_000, milliseconds: 60_000, bytes: 512 * 1024 * 1024 };
  const changes = new Changes(daemon, { ...wide, ...bounds });
  const write = (name: string, bytes: number, fill = name): void =>
    writeFileSync(join(home, name), Buffer.alloc(bytes, fill));
  return { home, changes, write };
}

let lastId = 0;

function withTurns(daemon: RunningDaemon) {
  const post = async (path: string, json: unknown, status = 200) => {
    const answer = await daemon.call(path, { json });
    assert.equal(answer.status, status, answer.text);
    return JSON.parse(answer.text);
  };
  return {
    async run(turn: string | undefined, command: string): Promise<string> {
      const events = await daemon.exec({ id: `c${++lastId}`, command, ...(turn === undefined ? {} : { turn }) }).ended;
      assert.equal(exitOf(events).exitCode, 0, textOf(events, 'stderr'));
      return textOf(events);
    },
    async put(turn: string | undefined, path: string, body: string): Promise<void> {
      const who = turn === undefined ? '' : `&turn=${turn}`;
      const query = `path=${encodeURIComponent(path)}&onConflict=replace${who}`;
      const answer = await daemon.call(`/v1/files/content?${query}`, { method: 'PUT', body });
      assert.equal(answer.status, 201, answer.text);
    },
    edit: (turn: string, path: string, oldText: string, newText: string) =>
      post('/v1/files/edit', { path, turn, edits: [{ oldText, newText }] }),
    async changes(turn: string): Promise<TurnChanges> {
      return turnChanges.parse(JSON.parse((await daemon.call(`/v1/changes/${turn}`)).text));
    },
    async apply(turn: string, direction: 'undo' | 'redo', body: { paths?: string[]; force?: boolean } = {}) {
      return changesApplied.parse(await post(`/v1/changes/${turn}/${direction}`, body));
    },
    content: (turn: string, path: string, side: string) =>
      daemon.call(`/v1/changes/${turn}/content?path=${encodeURIComponent(path)}&side=${side}`),
    post,
  };
}

export function shortly({ files }: TurnChanges): string[] {
  return files.map(({ path, change, state }: ChangedFile) => `${change} ${path} ${state}`);
}

import type { Artifact } from '@homeport/contracts/files/artifacts';
import { trimEndOf } from '@homeport/contracts/text/trim-characters';
import type { Call } from './call.ts';
import { ask, type Request, unexpected } from './control-plane.ts';
import { exitCodes, Failure, usage } from './failure.ts';
import { humanSize, humanTime, print, printable, table } from './output.ts';
import { scopeOf } from './scope.ts';

export const artifactsPath = '/api/internal/artifacts';
const pageMax = 500;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The header of every artifact request. */
export function scopeHeader({ config, flags }: Call) {
  return { 'x-artifact-scope': scopeOf(config, flags.text('chat'), flags.text('project')) };
}

/** A UUID is an id; `./` before it makes it a path. */
export function targetOf(operand: string): { id: string } | { path: string } {
  if (uuid.test(operand)) return { id: operand };
  return { path: pathOf(operand) };
}

export function pathOf(operand: string): string {
  return operand.replace(/^(?:\.\/)+/, '');
}

/** The record in a response, of which the used members are checked. */
export function readArtifact(value: unknown): Artifact {
  const found = value as Partial<Artifact> | null;
  const isSound =
    typeof found?.id === 'string' &&
    typeof found.path === 'string' &&
    typeof found.filename === 'string' &&
    typeof found.size === 'number' &&
    typeof found.mediaType === 'string' &&
    typeof found.createdAt === 'string';
  if (!isSound) throw unexpected();
  return found as Artifact;
}

function askFor(call: Call, request: Omit<Request, 'headers'>): Promise<unknown> {
  return ask(call.config, { ...request, headers: scopeHeader(call) }, call.signal);
}

/** `homeport artifacts ls [folder]` */
export async function list(call: Call): Promise<void> {
  const { flags, operands } = call;
  const folder = operands[0] === undefined ? undefined : pathOf(operands[0]);
  const isJson = flags.isSet('json');
  let left = flags.number('limit') ?? Number.POSITIVE_INFINITY;
  let cursor: string | undefined;
  let count = 0;
  do {
    const query = { prefix: folder, q: flags.text('search'), limit: String(Math.min(left, pageMax)), cursor };
    const page = readPage(await askFor(call, { path: artifactsPath, query }));
    if (isJson) {
      if (count === 0) await print('{"artifacts":[');
      await print(
        page.artifacts.map((one, index) => `${count + index === 0 ? '' : ','}\n${JSON.stringify(one)}`).join(''),
      );
    } else if (page.artifacts.length > 0) await print(tableOf(page.artifacts, count === 0, flags.isSet('long')));
    count += page.artifacts.length;
    left -= page.artifacts.length;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && left > 0);
  if (isJson) await print(`\n],"nextCursor":${JSON.stringify(cursor ?? null)}}\n`);
  else if (count === 0) process.stderr.write('No matching artifacts.\n');
  else if (cursor !== undefined) process.stderr.write('There are more. Use --limit <number> to see them.\n');
}

function readPage(value: unknown): { artifacts: Artifact[]; nextCursor: string | null } {
  const page = value as { artifacts?: unknown; nextCursor?: unknown } | null;
  const { nextCursor = null } = page ?? {};
  if (!Array.isArray(page?.artifacts) || (nextCursor !== null && typeof nextCursor !== 'string')) throw unexpected();
  return { artifacts: page.artifacts.map(readArtifact), nextCursor };
}

function tableOf(artifacts: readonly Artifact[], hasTitles: boolean, isLong: boolean): string {
  const more = isLong ? [{ title: 'ID' }, { title: 'TYPE' }] : [];
  const columns = [{ title: 'SIZE', align: 'right' as const }, { title: 'CREATED' }, ...more, { title: 'PATH' }];
  const rows = artifacts.map((one) => [
    humanSize(one.size),
    humanTime(one.createdAt),
    ...(isLong ? [printable(one.id), printable(one.mediaType)] : []),
    printable(one.path),
  ]);
  return table(columns, rows, hasTitles);
}

/** The record of one artifact. */
export async function findArtifact(call: Call, operand: string): Promise<Artifact> {
  const answer = await askFor(call, { path: `${artifactsPath}/stat`, query: targetOf(operand) });
  return readArtifact((answer as { artifact?: unknown } | null)?.artifact);
}

/** `homeport artifacts stat <path or id>` */
export async function stat(call: Call): Promise<void> {
  const found = await findArtifact(call, call.operands[0] ?? '');
  if (call.flags.isSet('json')) return print(`${JSON.stringify(found)}\n`);
  const { namespace, sha256 } = found;
  const lines = [
    ['Path', found.path],
    ['Id', found.id],
    ['In', namespace === undefined ? '' : `${namespace.type} ${namespace.id}`],
    ['Size', `${found.size} bytes (${humanSize(found.size)})`],
    ['Type', found.mediaType],
    ['SHA-256', String(sha256 ?? '')],
    ['Created', `${found.createdAt} by ${found.createdBy}`],
  ];
  await print(lines.map(([name = '', value = '']) => `${`${name}:`.padEnd(9)} ${printable(value)}\n`).join(''));
}

/** `homeport artifacts mv <path or id> <path>` */
export async function move(call: Call): Promise<void> {
  const [from = '', given = ''] = call.operands;
  const target = targetOf(from);
  const name = async () => ('id' in target ? (await findArtifact(call, from)).filename : lastName(target.path));
  const to = given.endsWith('/') ? `${pathOf(given)}${await name()}` : pathOf(given);
  const json = { ...('id' in target ? { id: target.id } : { from: target.path }), to };
  const answer = (await askFor(call, { method: 'PATCH', path: artifactsPath, json })) as { moved?: unknown } | null;
  if (typeof answer?.moved !== 'number') throw unexpected();
  if (call.flags.isSet('json')) return print(`${JSON.stringify(answer)}\n`);
  await print(answer.moved === 0 ? 'It is already there.\n' : `Moved to ${printable(to)} (${files(answer.moved)})\n`);
}

export function lastName(path: string): string {
  return trimEndOf(path, '/').split('/').at(-1) ?? '';
}

function files(count: number): string {
  return count === 1 ? '1 file' : `${count} files`;
}

/** `homeport artifacts rm <path or id>…`, or `--prefix <folder>` */
export async function remove(call: Call): Promise<void> {
  const folder = call.flags.text('prefix');
  if ((folder === undefined) === (call.operands.length === 0)) {
    throw usage('Name what to delete: paths or ids, or --prefix <folder>, not both');
  }
  const deleted = folder === undefined ? await removeEach(call) : await removeFolder(call, pathOf(folder));
  await print(call.flags.isSet('json') ? `${JSON.stringify({ ok: true, deleted })}\n` : `Deleted ${files(deleted)}.\n`);
}

/** One after the other; the first failure stops it and says what has been deleted. */
async function removeEach(call: Call): Promise<number> {
  let deleted = 0;
  for (const operand of call.operands) {
    try {
      deleted += await removeBy(call, targetOf(operand));
    } catch (error) {
      if (!(error instanceof Failure) || call.operands.length === 1) throw error;
      const message = `${printable(operand)}: ${error.message}`;
      throw new Failure(error.exitCode, message, { ...error, hint: `${files(deleted)} deleted before it.` });
    }
  }
  return deleted;
}

async function removeFolder(call: Call, folder: string): Promise<number> {
  if (!call.flags.isSet('yes')) await confirm(`Delete everything in ${printable(folder)}?`, call.signal);
  const deleted = await removeBy(call, { prefix: folder });
  if (deleted > 0) return deleted;
  throw new Failure(exitCodes.notFound, `There is nothing in ${printable(folder)}`);
}

async function removeBy(call: Call, query: Record<string, string>): Promise<number> {
  const answer = (await askFor(call, { method: 'DELETE', path: artifactsPath, query })) as { deleted?: unknown } | null;
  if (typeof answer?.deleted !== 'number') throw unexpected();
  return answer.deleted;
}

async function confirm(question: string, signal: AbortSignal): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw usage('Deleting a folder needs confirmation', 'Add --yes, because there is no terminal to ask in.');
  }
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal });
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new Failure(exitCodes.failure, 'Nothing was deleted');
  } finally {
    terminal.close();
  }
}

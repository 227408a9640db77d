import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { Connection } from '../load/connection.ts';
import { familyProportionalBytes, residentBytes } from '../servers/processes.ts';
import { launchProduct, postmasterPid, scratchFolder } from '../servers/product.ts';
import { median } from '../statistics.ts';

const megabyte = 1_000_000;

/** From the start of the process until its health check answers 200. */
export async function measureStart(bench: Bench): Promise<void> {
  const fresh: number[] = [];
  const existing: number[] = [];
  const times = bench.quick ? 2 : 4;
  let folder = scratchFolder();
  for (let index = 0; index < times; index++) {
    folder = scratchFolder();
    const { process, healthyMs } = await launchProduct(bench.dist, folder);
    fresh.push(healthyMs);
    await process.stop();
  }
  for (let index = 0; index < times + 2; index++) {
    const { process, healthyMs } = await launchProduct(bench.dist, folder);
    existing.push(healthyMs);
    await process.stop();
  }
  const row = (what: string, values: number[], most: number) =>
    bench.report.add({
      part: 'start',
      what,
      measured: median(values),
      unit: 'ms',
      judge: 'value',
      limit: { at: 'most', value: most },
      note: `(${values.map(Math.round).join(', ')})`,
    });
  row('healthy on an existing database', existing, 350);
  row('healthy with initdb and migrations', fresh, 3_000);
}

/** Memory at rest: 20 s after a start on an existing database and a few requests. */
export async function measureIdle(bench: Bench): Promise<void> {
  const product = await bench.freshProduct();
  await product.createChats(50);
  await product.stop();
  const { process, port } = await launchProduct(bench.dist, product.dataDir);
  const connection = await Connection.open(port);
  for (const path of ['/api/me', '/api/chats', '/api/providers', '/']) {
    await connection.exchange(connection.requestText('GET', path, product.cookie));
  }
  connection.close();
  await delay(20_000);
  const server = residentBytes(process.pid) / megabyte;
  const database = familyProportionalBytes(postmasterPid(product.dataDir)) / megabyte;
  bench.report.add({
    part: 'idle',
    what: 'resident size of the server after 20 s',
    measured: server,
    unit: 'MB',
    judge: 'value',
    limit: { at: 'most', value: 120 },
  });
  bench.report.add({
    part: 'idle',
    what: 'proportional size of the database after 20 s',
    measured: database,
    unit: 'MB',
    judge: 'value',
    limit: { at: 'most', value: 40 },
  });
  await process.stop();
}

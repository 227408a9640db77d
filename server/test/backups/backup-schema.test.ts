import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Database } from '../../src/db/pool.ts';
import { startTestApp, type TestApp } from '../app.ts';
import { backUp, fill, Places, restoreInto, talk } from './backup-harness.ts';

/** A restore drops indexes and constraints while rows load; afterwards the schema is that of a fresh database. */

const places = new Places();
let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(async () => {
  await app.stop();
  await places.close();
});

const parts = {
  columns: `select c.relname as "table", a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
      a.attnotnull as required, a.attidentity as identity, a.attgenerated as generated, a.attstorage as storage,
      pg_get_expr(d.adbin, d.adrelid) as fallback
    from pg_attribute a join pg_class c on c.oid = a.attrelid
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
    order by 1, a.attnum`,
  // PostgreSQL 18 lists "not null" here, too, which older ones do not; the columns have it.
  constraints: `select k.conrelid::regclass::text as "table", k.conname as name, k.contype as kind, k.convalidated as valid,
      k.conindid::regclass::text as index, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k where k.connamespace = 'public'::regnamespace and k.contype <> 'n' order by 1, 2`,
  indexes: `select i.relname as name, pg_get_indexdef(i.oid) as definition, i.reloptions as options, x.indisvalid as valid,
      x.indisunique as once, x.indisprimary as main, x.indisclustered as clustered, x.indisreplident as identity
    from pg_index x join pg_class i on i.oid = x.indexrelid
    where i.relnamespace = 'public'::regnamespace order by 1`,
  sequences: `select c.relname as name, s.seqtypid::regtype::text as type, s.seqstart, s.seqincrement, s.seqmin, s.seqmax,
      s.seqcycle, d.refobjid::regclass::text as "table", d.refobjsubid as column
    from pg_sequence s join pg_class c on c.oid = s.seqrelid
      left join pg_depend d on d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
    order by 1`,
  triggers: `select tgrelid::regclass::text as "table", tgname as name, pg_get_triggerdef(oid) as definition
    from pg_trigger where not tgisinternal order by 1, 2`,
};

async function schemaOf({ pool }: Database): Promise<Record<string, unknown[]>> {
  const found = await Promise.all(
    Object.entries(parts).map(
      async ([part, text]): Promise<[string, unknown[]]> => [part, (await pool.query(text)).rows],
    ),
  );
  return Object.fromEntries(found);
}

test('a restored database has the schema of a fresh one, down to the names', async () => {
  const { config, db } = app.service.deps;
  await talk(db, await fill(await app.signIn()), 500);
  const expected = await schemaOf(db);
  assert.ok((expected.indexes?.length ?? 0) > 100 && (expected.constraints?.length ?? 0) > 100);
  const file = join(await places.folder(), 'schema.tar');
  await backUp(config, db, file);
  for (const kind of ['external/folder', 'embedded/folder'] as const) {
    const place = await places.empty(kind);
    await restoreInto(place.config, file);
    await place.use(async (restored) => assert.deepEqual(await schemaOf(restored), expected, kind));
  }
});

test("a restore needs only the rights of the database's owner", async () => {
  const { config, db } = app.service.deps;
  const file = join(await places.folder(), 'owner.tar');
  await backUp(config, db, file);
  const place = await places.empty('external/folder');
  const owner = `owner_${process.pid}_${Date.now()}`;
  const url = new URL(place.config.databaseUrl ?? '');
  const name = url.pathname.slice(1);
  await place.use(async ({ pool }) => {
    await pool.query(`create role ${owner} login nosuperuser nocreatedb nocreaterole`);
    await pool.query(`alter database "${name}" owner to ${owner}`);
    await pool.query(`alter schema public owner to ${owner}`);
  });
  url.username = owner;
  try {
    await restoreInto({ ...place.config, databaseUrl: url.href }, file);
    await place.use(async (restored) => assert.deepEqual(await schemaOf(restored), await schemaOf(db)));
  } finally {
    await place.use(({ pool }) =>
      pool.query(`drop owned by ${owner} cascade; alter database "${name}" owner to current_user; drop role ${owner}`),
    );
  }
});

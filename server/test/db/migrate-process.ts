import { migrate } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/pool.ts';

/** A process that brings DATABASE_URL up to date, as each replica does at its start. */

const silent = (): void => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };
const database = openDatabase({ connection: process.env.DATABASE_URL ?? '', max: 2, log });
await migrate(database);
await database.close();

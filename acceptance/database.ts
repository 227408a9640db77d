import { connect, type Socket } from 'node:net';
import { join } from 'node:path';

/**
 * Session with the product's own database over the bare PostgreSQL protocol, with the access of a thief of the data
 * folder.
 */
export class DatabaseSession {
  readonly #socket: Socket;
  #buffer: Buffer = Buffer.alloc(0);
  #take: ((type: string, content: Buffer) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    // A reset after the last response does not matter; an earlier one rejects the query.
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, data]);
      this.#read();
    });
  }

  /** Connects to the embedded PostgreSQL of a data folder, which trusts anybody who can open its socket. */
  static async open(dataDir: string): Promise<DatabaseSession> {
    const session = new DatabaseSession(connect(join(dataDir, 'run/.s.PGSQL.5432')));
    const settings = ['user', 'homeport', 'database', 'homeport', ''].map((text) => `${text}\0`).join('');
    const startup = Buffer.concat([uint32(196_608), Buffer.from(settings)]);
    session.#socket.write(Buffer.concat([uint32(startup.length + 4), startup]));
    await session.#finished();
    return session;
  }

  /** Runs statements; resolves with the rows of the last ones, each value as text. */
  async query(sql: string): Promise<(string | null)[][]> {
    const rows: (string | null)[][] = [];
    this.#send(sql);
    await this.#finished((type, content) => {
      if (type === 'D') rows.push(rowOf(content));
    });
    return rows;
  }

  /** Every row of every table, as `COPY` writes it: table name, then its bytes. */
  async dump(): Promise<{ table: string; content: Buffer }[]> {
    const tables = await this.query(
      `select quote_ident(schemaname) || '.' || quote_ident(tablename) from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    const dumped: { table: string; content: Buffer }[] = [];
    for (const [table] of tables) {
      const chunks: Buffer[] = [];
      this.#send(`copy ${table} to stdout`);
      await this.#finished((type, content) => {
        if (type === 'd') chunks.push(content);
      });
      dumped.push({ table: table ?? '', content: Buffer.concat(chunks) });
    }
    return dumped;
  }

  close(): void {
    this.#socket.end(Buffer.concat([Buffer.from('X'), uint32(4)]));
  }

  #send(sql: string): void {
    const content = Buffer.from(`${sql}\0`);
    this.#socket.write(Buffer.concat([Buffer.from('Q'), uint32(content.length + 4), content]));
  }

  /** Resolves when the server is ready for the next query; an error message rejects. */
  #finished(take: (type: string, content: Buffer) => void = () => undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      let failure: Error | undefined;
      this.#socket.once('error', reject);
      this.#take = (type, content) => {
        if (type === 'E') failure = new Error(`PostgreSQL: ${content.toString().replaceAll('\0', ' ')}`);
        if (type !== 'Z') return take(type, content);
        this.#socket.off('error', reject);
        if (failure === undefined) resolve();
        else reject(failure);
      };
      this.#read();
    });
  }

  #read(): void {
    while (this.#take !== undefined && this.#buffer.length >= 5) {
      const end = 1 + this.#buffer.readUInt32BE(1);
      if (this.#buffer.length < end) return;
      const type = String.fromCharCode(this.#buffer[0] ?? 0);
      const content = this.#buffer.subarray(5, end);
      this.#buffer = this.#buffer.subarray(end);
      this.#take(type, content);
    }
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function rowOf(content: Buffer): (string | null)[] {
  const row: (string | null)[] = [];
  let at = 2;
  for (let left = content.readUInt16BE(0); left > 0; left -= 1) {
    const length = content.readInt32BE(at);
    at += 4;
    row.push(length < 0 ? null : content.toString('utf8', at, at + length));
    at += Math.max(0, length);
  }
  return row;
}

/**
 * More people besides the first administrator: users with their password, inserted directly, since only setup creates
 * an account without an administrator.
 */
export async function addUsers(dataDir: string, emails: readonly string[]): Promise<void> {
  const session = await DatabaseSession.open(dataDir);
  for (const email of emails) {
    await session.query(`
      with first as (select * from credentials order by created_at limit 1),
      added as (insert into users (id, name, email, role) values (gen_random_uuid()::text, 'Somebody', '${email}', 'user') returning id)
      insert into credentials (id, user_id, account_id, provider_id, password)
      select gen_random_uuid()::text, added.id, added.id, first.provider_id, first.password from added, first`);
  }
  session.close();
}

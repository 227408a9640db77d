import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { adviseOnPostgresUrl, parsePostgresUrl } from './database-url.ts';

/** The address as node-postgres reads it from the setting. */
function read(given: string) {
  const url = parsePostgresUrl(given);
  assert.ok(url !== undefined, given);
  const { user, password, host, port, database } = new Client({ connectionString: url });
  return { user, password, host, port, database };
}

test('accepts every form of a unix socket, with and without user, password and port', () => {
  const at = { host: '/cloudsql/project:region:instance', port: 5432, database: 'chat' };
  for (const prefix of ['postgres', 'postgresql']) {
    const plain = read(`${prefix}://homeport:secret@/chat?host=/cloudsql/project:region:instance`);
    assert.deepEqual(plain, { user: 'homeport', password: 'secret', ...at });
  }
  const encoded = read('postgres://homeport:secret@/chat?host=%2Fcloudsql%2Fproject%3Aregion%3Ainstance');
  assert.deepEqual(encoded, { user: 'homeport', password: 'secret', ...at });
  assert.deepEqual(read('postgres://homeport@:6000/chat?host=/run/postgresql'), {
    user: 'homeport',
    password: null,
    host: '/run/postgresql',
    port: 6000,
    database: 'chat',
  });
  assert.equal(read('postgresql:///chat?host=/run/postgresql').host, '/run/postgresql');
  assert.equal(read('postgres://u:p@%2Frun%2Fpostgresql/chat').host, '/run/postgresql');
  assert.equal(read('postgres://u:p@/chat').host, 'localhost');
});

test('accepts encoded passwords, and passwords that need no encoding', () => {
  for (const password of ['@ # / % : ? & = + ü', '%zz', 'a@b:c', '100%sure', 'p%2Fq', '[x]|^"<>\\', '12/3?4#5']) {
    assert.equal(read(`postgres://u:${encodeURIComponent(password)}@db.example.org/chat`).password, password);
  }
  for (const password of ['a@b', 'a:b:c', 'a b%2F', 'a+b&c=d', '100%sure', 'ü[x]']) {
    const expected = password === 'a b%2F' ? 'a b/' : password;
    assert.equal(read(`postgres://u:${password}@db.example.org/chat`).password, expected, password);
  }
});

test('names each character of a password that must be encoded, and nothing else of it', () => {
  const cases: [password: string, advice: RegExp][] = [
    ['secret#word', /write "#" as %23$/],
    ['12#word', /write "#" as %23$/],
    ['secret@x#word', /write "#" as %23$/],
    ['secret/word', /write "\/" as %2F$/],
    ['12/word', /write "\/" as %2F$/],
    ['secret@x/word', /write "\/" as %2F$/],
    ['secret?word', /write "\?" as %3F$/],
    ['12?word', /write "\?" as %3F$/],
    ['12?a=word', /write "\?" as %3F$/],
    ['secret?a=word', /write "\?" as %3F$/],
    ['#', /write "#" as %23$/],
    ['a#b/c?d', /write "#" as %23 and "\/" as %2F and "\?" as %3F$/],
    ['%FFword', /write "%" as %25$/],
  ];
  for (const [password, advice] of cases) {
    for (const end of ['db.example.org/chat', 'db.example.org:5432/chat?sslmode=require', '/chat?host=/run/pg']) {
      const url = `postgres://homeport:${password}@${end}`;
      assert.equal(parsePostgresUrl(url), undefined, url);
      assert.match(adviseOnPostgresUrl(url) ?? '', advice, url);
      assert.doesNotMatch(adviseOnPostgresUrl(url) ?? '', /secret|homeport/);
    }
  }
});

test('leaves a URL as it is unless node-postgres would warn about it or misread it', () => {
  const kept = [
    'postgres://homeport:pass-word@db.example.org/homeport',
    'postgresql:///homeport?host=/run/postgresql',
    'postgres://u:p@db/chat?sslmode=verify-full&sslrootcert=/ca.pem',
    'postgres://u:p@db/chat?sslmode=disable',
    'postgres://u:p@db/chat?uselibpqcompat=true&sslmode=require',
    'postgres://db:5432/chat?user=me@example.org&password=x',
  ];
  for (const url of kept) assert.equal(parsePostgresUrl(url), url);
  for (const mode of ['prefer', 'require', 'verify-ca']) {
    const url = `postgres://u:p@db/chat?a=b&sslmode=${mode}`;
    assert.equal(parsePostgresUrl(url), 'postgres://u:p@db/chat?a=b&sslmode=verify-full');
  }
});

test('refuses other schemes, hosts and ports', () => {
  for (const url of ['x', 'mysql://u:p@db/chat', 'http://db', 'host=db dbname=chat', '/run/postgresql chat']) {
    assert.deepEqual([parsePostgresUrl(url), adviseOnPostgresUrl(url)], [undefined, undefined], url);
  }
  for (const url of ['postgres://u:p@db:port/chat', 'postgres://u:p@db:70000/chat']) {
    assert.deepEqual([parsePostgresUrl(url), adviseOnPostgresUrl(url)], [undefined, 'check its host and its port']);
  }
});

import { randomBytes, randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type ManagedUser, userBody, userPatchBody } from '@homeport/contracts/admin';
import { limits } from '@homeport/contracts/limits';
import { comparableEmail } from '@homeport/contracts/text/email';
import type { z } from 'zod';
import { deleteSessionsOf, endEverySession } from '../accounts/sessions.ts';
import { administerUser, createUser } from '../accounts/user-administration.ts';
import { listPeople } from '../administration/people-list.ts';
import { operator, recordEvent } from '../audit/audit.ts';
import { type Database, inTransaction } from '../db/pool.ts';
import { deleteAccount } from '../exports/delete-account.ts';
import { systemClock } from '../platform/clock.ts';
import { createLogger } from '../platform/logger.ts';
import { type Call, type Command, type Outcome, UsageError, withInstallation } from './command.ts';
import { setMaintenance } from './maintenance.ts';

const passwordOption = `  --password-file <file>   its first line is the password; otherwise one is made up and shown once,
                           and has to be changed at the first sign-in`;
const none = { options: {}, help: '' };

/** Commands for accounts, sessions and maintenance. */
export const peopleCommands: readonly Command[] = [
  {
    name: 'users list',
    synopsis: '[<text>]',
    words: [0, 1],
    ...none,
    run: list,
    summary: 'List the accounts, newest first; with a text, those whose name or address contains it.',
  },
  {
    name: 'users add',
    synopsis: '<email> [--name <name>] [--admin]',
    words: [1, 1],
    run: add,
    options: { name: { type: 'string' }, admin: { type: 'boolean' }, 'password-file': { type: 'string' } },
    summary: 'Create an account.',
    help: `  --name <name>            default: the part of the address before the @\n  --admin                  an administrator\n${passwordOption}`,
  },
  {
    name: 'users reset-password',
    synopsis: '<email>',
    words: [1, 1],
    run: resetPassword,
    options: { 'password-file': { type: 'string' } },
    summary: 'Give an account another password, and end its sessions.',
    help: passwordOption,
  },
  {
    name: 'users enable',
    synopsis: '<email>',
    words: [1, 1],
    ...none,
    run: (call) => enable(call, true),
    summary: 'Let an account sign in again.',
  },
  {
    name: 'users disable',
    synopsis: '<email>',
    words: [1, 1],
    ...none,
    run: (call) => enable(call, false),
    summary: 'Disable an account immediately. Its data is kept.',
  },
  {
    name: 'users delete',
    synopsis: '<email> --data keep|delete',
    words: [1, 1],
    run: remove,
    options: { data: { type: 'string' } },
    summary: 'Delete an account. Items it shared stay with their members.',
    help: '  --data keep     its conversations and files stay, without a person\n  --data delete   they go as well',
  },
  {
    name: 'sessions end',
    synopsis: '<email> | --all',
    words: [0, 1],
    run: endSessions,
    options: { all: { type: 'boolean' } },
    summary: 'Sign an account out everywhere, or everybody.',
    help: '  --all    everybody',
  },
  {
    name: 'maintenance on',
    synopsis: '[--message <text>]',
    words: [0, 0],
    run: (call) => maintain(call, true),
    options: { message: { type: 'string' } },
    summary: 'Let only administrators write; everybody can read, sign in and sign out.',
    help: '  --message <text>   shown to users instead of the default message',
  },
  {
    name: 'maintenance off',
    synopsis: '',
    words: [0, 0],
    ...none,
    run: (call) => maintain(call, false),
    summary: 'Let everybody write again.',
  },
];

const messageMax = 500;
/** At the command line no user is signed in, so no session is spared. */
const nobody = { id: '', sessionId: '' };

async function list(call: Call): Promise<Outcome> {
  return withInstallation(call.signal, async ({ config, db }) => {
    const users: ManagedUser[] = [];
    const [q] = call.words;
    let cursor: string | undefined;
    do {
      const page = await listPeople({ config, db, clock: systemClock }, { q, cursor, limit: limits.pageMax });
      users.push(...page.users);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    const lines = users.map((user) =>
      [user.email, user.role, user.enabled ? 'enabled' : 'disabled', user.lastSeenAt ?? 'never', user.name].join('\t'),
    );
    return { ok: true, lines, result: { users } };
  });
}

async function add(call: Call): Promise<Outcome> {
  const [email = ''] = call.words;
  const { password, isMadeUp } = await passwordOf(call);
  const role = call.flag('admin') ? 'admin' : 'user';
  const [local = ''] = email.split('@');
  const name = call.value('name') ?? (local.length < limits.nameMin ? email : local);
  const input = valid(userBody, { email, name, role, password, mustChangePassword: isMadeUp });
  return withInstallation(call.signal, async ({ config, db }) => {
    const user = await createUser({ db, config }, input, operator);
    return withPassword(`Created ${user.email}.`, user, { password, isMadeUp });
  });
}

async function resetPassword(call: Call): Promise<Outcome> {
  const { password, isMadeUp } = await passwordOf(call);
  return withInstallation(call.signal, async ({ config, db }) => {
    const id = await findAccount(db, call.words[0]);
    const patch = valid(userPatchBody.options[1], { id, password, mustChangePassword: isMadeUp });
    const user = await administerUser({ db, config }, nobody, patch, operator);
    return withPassword(`${user.email} has another password.`, user, { password, isMadeUp });
  });
}

async function enable(call: Call, enabled: boolean): Promise<Outcome> {
  return withInstallation(call.signal, async ({ config, db }) => {
    const id = await findAccount(db, call.words[0]);
    const user = await administerUser({ db, config }, nobody, { id, enabled }, operator);
    return { ok: true, lines: [`${user.email} is ${enabled ? 'enabled' : 'disabled'}.`], result: { user } };
  });
}

async function remove(call: Call): Promise<Outcome> {
  const data = call.value('data');
  if (data !== 'keep' && data !== 'delete') throw new UsageError('Say --data keep or --data delete.');
  return withInstallation(call.signal, async ({ config, db }) => {
    const id = await findAccount(db, call.words[0]);
    // The service notices by itself that the account is disabled.
    const needs = { config, db, log: createLogger('warn', process.stderr), accountDisabled: async () => undefined };
    await deleteAccount(needs, id, data, operator);
    const line = `${call.words[0]} is deleted${data === 'keep' ? '; its data is kept' : ', with its data'}.`;
    return { ok: true, lines: [line], result: { id, data } };
  });
}

async function endSessions(call: Call): Promise<Outcome> {
  if (call.flag('all') === call.words.length > 0) throw new UsageError('Give an address or --all.');
  return withInstallation(call.signal, async ({ db }) => {
    const id = call.flag('all') ? undefined : await findAccount(db, call.words[0]);
    const ended = await inTransaction(db, async (trx) => {
      const count = id === undefined ? await endEverySession(trx) : await deleteSessionsOf(trx, id);
      const target = id === undefined ? {} : { targetType: 'user', targetId: id };
      await recordEvent(trx, operator, { action: 'session.ended', ...target, details: { count } });
      return count;
    });
    return { ok: true, lines: [`${ended} sessions ended.`], result: { ended } };
  });
}

async function maintain(call: Call, on: boolean): Promise<Outcome> {
  const message = call.value('message')?.trim().toWellFormed() || null;
  if (message !== null && message.length > messageMax)
    throw new UsageError(`--message takes ${messageMax} characters.`);
  return withInstallation(call.signal, async ({ db }) => {
    const maintenance = await setMaintenance(db, { on, message }, operator);
    const line = on ? 'Only administrators can write now.' : 'Everybody can write again.';
    return { ok: true, lines: [line], result: { maintenance } };
  });
}

/** The id of the account with this address. */
export async function findAccount(db: Database, email = ''): Promise<string> {
  const row = await db.kysely
    .selectFrom('users')
    .select('id')
    .where('email', '=', comparableEmail(email))
    .executeTakeFirst();
  if (row === undefined) throw new Error(`There is no account with the address ${email}.`);
  return row.id;
}

type Password = { password: string; isMadeUp: boolean };

async function passwordOf(call: Call): Promise<Password> {
  const file = call.value('password-file');
  // A digit is asked for, and random letters may have none.
  const madeUp = `${randomBytes(15).toString('base64url')}${randomInt(10)}`;
  if (file === undefined) return { password: madeUp, isMadeUp: true };
  const text = await readFile(file, 'utf8').catch(() => {
    throw new UsageError(`--password-file names ${file}, which cannot be read.`);
  });
  return { password: text.split(/\r?\n/)[0] ?? '', isMadeUp: false };
}

function withPassword(line: string, user: ManagedUser, { password, isMadeUp }: Password): Outcome {
  if (!isMadeUp) return { ok: true, lines: [line], result: { user } };
  const lines = [line, `Password, shown only now: ${password}`];
  return { ok: true, lines, result: { user, password } };
}

function valid<T>(schema: z.ZodType<T>, input: unknown): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new UsageError(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not accepted'}`);
}

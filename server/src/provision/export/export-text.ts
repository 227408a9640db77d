import { CORE_SCHEMA, dump } from 'js-yaml';
import { sql } from 'kysely';
import type { Database } from '../../db/pool.ts';
import type { Platform } from '../../platform.ts';
import type { ManifestForm } from '../manifest/manifest-text.ts';
import { exportHead, exportUsers, type OnLoss } from './export.ts';
import { exportAssistants, exportPrompts } from './export-assistants.ts';
import { exportConversations } from './export-conversations.ts';

/** The manifest as text, piece by piece: neither the installation nor the text is ever in memory as a whole. */

type Needs = Pick<Platform, 'config' | 'secrets'> & { db: Pick<Database, 'kysely'> };
export type ExportOptions = { form: ManifestForm; conversations: boolean };

/** Writes the installation as a manifest. `write` resolves when it can take more. */
export async function exportInstallation(
  deps: Needs,
  { form, conversations }: ExportOptions,
  write: (text: string) => Promise<void>,
  onLoss: OnLoss,
): Promise<void> {
  const snapshot = deps.db.kysely.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  await snapshot.execute(async (trx) => {
    // The reader of the text can be slow.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
    // Sorting millions of conversations takes longer than a request may; eventually db/pool.ts drops a silent
    // connection.
    await sql`set local statement_timeout = 0`.execute(trx);
    const text = form === 'json' ? jsonText : yamlText;
    await write(text.head(await exportHead(deps, trx, onLoss)));
    await writeList(text, 'users', exportUsers(deps, trx, onLoss), write);
    await writeList(text, 'assistants', exportAssistants(trx, onLoss), write);
    await writeList(text, 'prompts', exportPrompts(trx, onLoss), write);
    if (conversations) await writeList(text, 'conversations', exportConversations(trx, onLoss), write);
    await write(text.end);
  });
}

type Text = {
  head(head: object): string;
  list(name: string): string;
  item(item: object, isFirst: boolean): string;
  listEnd(isEmpty: boolean): string;
  end: string;
};

const jsonText: Text = {
  head: (head) => JSON.stringify(head, null, 2).slice(0, -2),
  list: (name) => `,\n  "${name}": [`,
  item: (item, isFirst) => `${isFirst ? '' : ','}\n    ${JSON.stringify(item)}`,
  listEnd: () => '\n  ]',
  end: '\n}\n',
};

const yamlText: Text = {
  head: yaml,
  list: (name) => `${name}:`,
  item: (item, isFirst) => `${isFirst ? '\n' : ''}${yaml([item])}`,
  listEnd: (isEmpty) => (isEmpty ? ' []\n' : ''),
  end: '',
};

function yaml(value: unknown): string {
  return dump(value, { schema: CORE_SCHEMA, lineWidth: -1, noRefs: true });
}

async function writeList(
  text: Text,
  name: string,
  items: AsyncGenerator<object>,
  write: (text: string) => Promise<void>,
): Promise<void> {
  await write(text.list(name));
  let isFirst = true;
  for await (const item of items) {
    await write(text.item(item, isFirst));
    isFirst = false;
  }
  await write(text.listEnd(isFirst));
}

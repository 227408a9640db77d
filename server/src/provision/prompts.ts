import { limits } from '@homeport/contracts/limits';
import type { Transaction } from 'kysely';
import { insertPrompts, lockAllNaming, type PromptContent, storePrompt } from '../assistants/prompts.ts';
import type { Shared } from '../assistants/sharing.ts';
import type { Tables } from '../db/tables/tables.ts';
import { fullOwners } from './assistants.ts';
import { manifestError } from './manifest/manifest.ts';
import type { PromptEntry } from './manifest/manifest-reader.ts';
import { ownersOf } from './owners.ts';
import type { Report } from './report.ts';

/** Upserts saved prompts by owner and name. Throws `invalid_request` with paths. */
export async function applyPrompts(
  trx: Transaction<Tables>,
  entries: readonly PromptEntry[],
  report: Report,
): Promise<void> {
  if (entries.length === 0) return;
  await lockAllNaming(trx);
  const owners = await ownersOf(trx, 'prompts', entries);
  const rows = await trx
    .selectFrom('prompts')
    .select(['id', 'owner_id', 'audience', 'project_id', 'name', 'title', 'text'])
    .where('owner_id', 'in', [...owners.values()])
    .where('name', 'in', [...new Set(entries.map(({ name }) => name))])
    .forNoKeyUpdate()
    .execute();
  const stored = new Map(rows.map((row) => [`${row.owner_id} ${row.name}`, row]));
  const added: { shared: Shared; content: PromptContent }[] = [];
  for (const { index, ownerEmail, name, title, text, audience } of entries) {
    const ownerId = owners.get(ownerEmail) ?? '';
    const before = stored.get(`${ownerId} ${name}`);
    const label = `prompt "${name}" of ${ownerEmail}`;
    if (before === undefined) {
      const shared = { owner_id: ownerId, audience: audience ?? 'me', project_id: null };
      added.push({ shared, content: { name, title: title ?? name, text } });
      report.created('prompts', `prompts.${index}`, label);
      continue;
    }
    const wanted = { title: title ?? before.title, text, audience: audience ?? before.audience };
    const changed = (['title', 'text', 'audience'] as const).filter((member) => wanted[member] !== before[member]);
    report.compared('prompts', `prompts.${index}`, label, changed);
    if (changed.length === 0) continue;
    const project_id = changed.includes('audience') ? null : before.project_id;
    await storePrompt(trx, before.id, wanted, { audience: wanted.audience, project_id });
  }
  if (added.length > 0) await insertPrompts(trx, added);
  const full = await fullOwners(trx, 'prompts', [...owners.values()], limits.promptsPerOwner);
  const details = entries.flatMap(({ index, ownerEmail }) => {
    const fault = full(owners.get(ownerEmail) ?? '');
    return fault === undefined ? [] : [{ path: `prompts.${index}`, message: fault }];
  });
  if (details.length > 0) throw manifestError(details);
}

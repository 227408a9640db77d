import { ApiError } from '@homeport/contracts/errors';
import { limits } from '@homeport/contracts/limits';
import { sql } from 'kysely';
import { deleteUnchangedAssistant, insertAssistants } from '../assistants/assistants.ts';
import { storeFiles } from '../assistants/knowledge.ts';
import { deleteUnchangedPrompt, insertPrompts } from '../assistants/prompts.ts';
import { assertRoom, type Shared } from '../assistants/sharing.ts';
import { deleteUnchangedSkill, insertSkill } from '../assistants/skill-library.ts';
import { packageOf, SkillBounds, type SkillPackage } from '../assistants/skill-package.ts';
import { knownTiers, newContent } from '../assistants/versions.ts';
import { catalogueOwner } from '../catalogue/catalogue-owner.ts';
import type { Queryable } from '../db/pool.ts';
import type { ImportKind } from '../db/tables/imports.ts';
import { noteAt, settleEntry } from './import-entries.ts';
import { type ImportDeps, insertFiles, type Place, withFiles } from './import-item.ts';
import type { ImportReader } from './import-reader.ts';
import { type ExportedAssistant, exportedAssistant, exportedPrompt } from './own-fields.ts';
import type { PreparedOwn } from './prepare.ts';

/** Assistants, prompts and skills of an archive, each in one transaction. They come as their new owner's alone. */

export async function importOwnItem(deps: ImportDeps, place: Place, item: PreparedOwn): Promise<void> {
  const { run, archive, position } = place;
  const at = { importId: run.id, position };
  const content = item.kind === 'skill' ? await readSkill(archive, item.files) : undefined;
  await withFiles(deps, place, item.kind === 'assistant' ? item.files : [], async (trx, files) => {
    const shared: Shared = { owner_id: run.owner_id, audience: 'me', project_id: null };
    await assertRoom(trx, `${item.kind}s`, shared);
    let isNew = true;
    let count = content?.files.length ?? 0;
    if (item.kind === 'prompt')
      isNew =
        (await insertPrompts(trx, [{ id: item.id, shared, content: exportedPrompt.parse(item.fields) }])).length > 0;
    else if (content !== undefined) await insertSkill(trx, item.id, shared, content);
    else if (item.kind === 'assistant') {
      const { stored, missing } = await assistantContent(deps, trx, run.owner_id, exportedAssistant.parse(item.fields));
      await insertAssistants(trx, [{ id: item.id, shared, content: stored }], run.owner_id);
      count = await insertFiles(trx, run.owner_id, { assistantId: item.id }, files);
      await storeFiles(trx, [{ id: item.id, version: 1 }]);
      for (const note of missing) await noteAt(trx, at, note);
    }
    const outcome = isNew ? 'new' : 'same';
    await settleEntry(trx, at, { outcome, messages: 0, files: count, first: null, last: null });
  });
}

/** Servers and tiers by what they are called here: their ids mean nothing in another installation. */
async function assistantContent(deps: ImportDeps, trx: Queryable, ownerId: string, given: ExportedAssistant) {
  const { mcpServers, providerModelId, tier, ...content } = given;
  const missing: string[] = [];
  let servers: string[] | null = null;
  if (mcpServers !== null) {
    const { rows } = await sql<{ id: string | null; name: string }>`
      select (select id from mcp_servers s where s.owner_id = ${ownerId} and s.name = named.name order by s.seq limit 1) as id,
        named.name from unnest(${mcpServers}::text[]) with ordinality named (name, place) order by named.place`.execute(
      trx,
    );
    servers = rows.flatMap(({ id }) => (id === null ? [] : [id])).slice(0, limits.mcpServersPerChat);
    const absent = rows.filter(({ id }) => id === null).map(({ name }) => name);
    if (absent.length > 0) missing.push(`You have no MCP server named ${absent.slice(0, 5).join(', ')}`);
  }
  const tiers = tier === null ? [] : await knownTiers(trx, catalogueOwner(deps.config, ownerId));
  const hasTier = tiers.some(({ value }) => value === tier);
  if (tier !== null && !hasTier) missing.push('Its tier does not exist here');
  const own = { provider_model_id: providerModelId, tier: hasTier ? tier : null, mcp_server_ids: servers };
  return { stored: { ...newContent(content.name), ...content, ...own }, missing };
}

async function readSkill(
  archive: ImportReader,
  files: readonly { entry: string; path: string }[],
): Promise<SkillPackage> {
  const found = new Map<string, Buffer>();
  const bounds = new SkillBounds();
  for (const { entry, path } of files) {
    const content = await archive.readWhole(entry, limits.skillBytes);
    if (content === undefined) throw new ApiError('invalid_request', `${path} is damaged`);
    if (bounds.admits(path, content.length)) found.set(path, content);
  }
  return packageOf(found);
}

const deletions: Partial<Record<ImportKind, (trx: Queryable, ownerId: string, id: string) => Promise<boolean>>> = {
  assistant: deleteUnchangedAssistant,
  prompt: deleteUnchangedPrompt,
  skill: deleteUnchangedSkill,
};

/** Takes back what came, unless it was changed here since. Returns how many stay. */
export async function undoOwn(
  trx: Queryable,
  ownerId: string,
  entries: readonly { kind: ImportKind; target: string }[],
): Promise<number> {
  let kept = 0;
  for (const { kind, target } of entries) {
    const deleteUnchanged = deletions[kind];
    if (deleteUnchanged !== undefined && !(await deleteUnchanged(trx, ownerId, target))) kept += 1;
  }
  return kept;
}

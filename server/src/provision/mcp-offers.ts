import type { ManifestMcpOffer } from '@homeport/contracts/provision/manifest';
import type { Transaction } from 'kysely';
import type { AuditSource } from '../audit/audit.ts';
import type { Tables } from '../db/tables/tables.ts';
import { insertOffer, offerView, readOffers, updateOffer } from '../mcp/offers.ts';
import { differences, type Report } from './report.ts';

/** Upserts the MCP servers that are offered to everybody, by name; an omitted member keeps its value. */
export async function applyMcpOffers(
  trx: Transaction<Tables>,
  entries: readonly ManifestMcpOffer[],
  { report, source }: { report: Report; source: AuditSource },
): Promise<void> {
  if (entries.length === 0) return;
  const stored = new Map((await readOffers(trx)).map((row) => [row.name, row]));
  for (const [index, entry] of entries.entries()) {
    const [path, label] = [`mcpOffers.${index}`, `offered MCP server "${entry.name}"`];
    const before = stored.get(entry.name);
    if (before === undefined) {
      await insertOffer(trx, entry, source);
      report.created('mcpOffers', path, label);
      continue;
    }
    const changed = differences(offerView(before), entry);
    report.compared('mcpOffers', path, label, changed);
    if (changed.length > 0) await updateOffer(trx, before.id, entry, source);
  }
}

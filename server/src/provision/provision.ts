import type { SentBytes } from '@homeport/contracts/endpoint';
import { ApiError } from '@homeport/contracts/errors';
import type { ProvisionReport } from '@homeport/contracts/provision/provision';
import { sql, type Transaction } from 'kysely';
import { assertAnAdministrator, lockAdministrators } from '../accounts/users.ts';
import { type AuditSource, recordEvent } from '../audit/audit.ts';
import { installationOwner, lockAllCatalogues } from '../catalogue/catalogue-owner.ts';
import { inTransaction } from '../db/pool.ts';
import type { Tables } from '../db/tables/tables.ts';
import { KeyedMutex } from '../platform/concurrency/keyed-mutex.ts';
import type { Platform } from '../platform.ts';
import { AssistantsOfManifest } from './assistants.ts';
import { applyCatalogues } from './catalogues.ts';
import { applyConversations } from './conversations.ts';
import { type CatalogueEntry, ManifestReader } from './manifest/manifest-reader.ts';
import { applyMcpOffers } from './mcp-offers.ts';
import { type PreparedPasswords, preparePasswords } from './passwords.ts';
import { applyPrompts } from './prompts.ts';
import { Report } from './report.ts';
import { applySettings } from './settings.ts';
import { applyUsers } from './users.ts';

/** The installation manifest (control-plane-api.md "Apply an installation manifest", contract.md section 9). */

export type ProvisionDeps = Pick<Platform, 'config' | 'db' | 'secrets' | 'clock' | 'sandbox'>;

export type ProvisionRequest = {
  sent: SentBytes;
  dryRun: boolean;
  /** The session of the user who applies it; it survives a change of that user's password. */
  sessionId: string;
  source: AuditSource;
  signal: AbortSignal;
};

const waitingMax = 4;
const turns = new KeyedMutex<ProvisionDeps['db']>();
let waiting = 0;

/**
 * Applies a manifest in one transaction, completely or not at all; a dry run rolls it back. One at a time on all
 * replicas. Throws `invalid_request`, `last_admin`, `tier_in_use`, `id_taken`, `email_taken`, each with the path in the
 * manifest, and `rate_limited`. Resolves with the report and the users whose responses have to be stopped.
 */
export async function provisionInstallation(
  deps: ProvisionDeps,
  request: ProvisionRequest,
): Promise<{ report: ProvisionReport; disabledIds: string[] }> {
  return inTurn(deps, async () => {
    const reader = await ManifestReader.open(deps.sandbox, request.sent, deps.config.edition, request.signal);
    try {
      const passwords = await preparePasswords(deps, reader, request);
      const report = new Report();
      const disabledIds = await inOneTransaction(deps, request.dryRun, (transaction) =>
        applyAll(deps, transaction, { reader, passwords, report, request }),
      );
      return { report: report.toJson(request.dryRun), disabledIds: request.dryRun ? [] : disabledIds };
    } finally {
      await reader.close();
    }
  });
}

type Work = { reader: ManifestReader; passwords: PreparedPasswords; report: Report; request: ProvisionRequest };

/** Accounts first, since others belong to them; catalogues last, since they block everybody else who edits one. */
async function applyAll(deps: ProvisionDeps, transaction: Transaction<Tables>, work: Work): Promise<string[]> {
  const { reader, report, request } = work;
  await lockAdministrators(transaction);
  const disabledIds = await applyAccounts(transaction, work);
  for await (const batch of reader.batches('conversations')) await applyConversations(transaction, batch, report);
  for await (const batch of reader.batches('prompts')) await applyPrompts(transaction, batch.prompts, report);
  await applySettings(deps, transaction, reader.head, { report, source: request.source });
  await applyMcpOffers(transaction, reader.head.mcpOffers ?? [], { report, source: request.source });
  await lockAllCatalogues(transaction);
  const { modelTiers, providers } = reader.head;
  if (modelTiers !== undefined || providers !== undefined) {
    await applyCatalogueEntries(deps, transaction, [{ path: '', email: null, modelTiers, providers }], report);
  }
  for await (const batch of reader.batches('catalogues')) {
    await applyCatalogueEntries(deps, transaction, batch.catalogues, report);
  }
  const assistants = new AssistantsOfManifest(deps, transaction, report, request.source.actorId);
  for await (const batch of reader.batches('assistants')) await assistants.apply(batch.assistants);
  const { users, providers: provided, models, conversations } = report.applied;
  const { assistants: helped, prompts, mcpOffers } = report.applied;
  await recordEvent(transaction, request.source, {
    action: 'manifest.applied',
    targetType: 'installation',
    details: {
      usersCreated: users.created,
      usersUpdated: users.updated,
      providersCreated: provided.created,
      providersUpdated: provided.updated,
      modelsCreated: models.created,
      modelsUpdated: models.updated,
      assistantsCreated: helped.created,
      assistantsUpdated: helped.updated,
      promptsCreated: prompts.created,
      promptsUpdated: prompts.updated,
      mcpOffersCreated: mcpOffers.created,
      mcpOffersUpdated: mcpOffers.updated,
      conversationsCreated: conversations.created,
      conversationsSkipped: conversations.skipped,
    },
  });
  return disabledIds;
}

async function applyAccounts(transaction: Transaction<Tables>, work: Work): Promise<string[]> {
  const { reader, passwords, report, request } = work;
  const context = { report, passwords, sessionId: request.sessionId };
  const disabledIds: string[] = [];
  let lost: string | undefined;
  for await (const { users } of reader.batches('users')) {
    const outcome = await applyUsers(transaction, users, context);
    disabledIds.push(...outcome.disabledIds);
    lost ??= outcome.lostAdministrator;
  }
  if (lost !== undefined) await withPath(lost, assertAnAdministrator(transaction));
  return disabledIds;
}

async function applyCatalogueEntries(
  deps: ProvisionDeps,
  transaction: Transaction<Tables>,
  entries: readonly CatalogueEntry[],
  report: Report,
): Promise<void> {
  const emails = entries.flatMap(({ email }) => email ?? []);
  const rows =
    emails.length === 0
      ? []
      : await transaction.selectFrom('users').select(['id', 'email', 'role']).where('email', 'in', emails).execute();
  const users = new Map(rows.map((row) => [row.email, row]));
  const owned = entries.flatMap((entry) => {
    const user = entry.email === null ? undefined : users.get(entry.email);
    const owner = entry.email === null ? installationOwner : user?.id;
    const mayShare = user?.role === 'admin';
    return owner === undefined ? [] : [{ ...entry, owner, label: entry.email ?? 'the installation', mayShare }];
  });
  await applyCatalogues(deps, transaction, owned, report);
}

class DryRunEnd extends Error {}

async function inOneTransaction<T>(
  deps: ProvisionDeps,
  dryRun: boolean,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  let result: { value: T } | undefined;
  try {
    await inTransaction(deps.db, async (transaction) => {
      // Longer than requests may take, but shorter than the silence after which db/pool.ts drops a connection.
      await sql`set local statement_timeout = '25s'`.execute(transaction);
      await assertAlone(transaction);
      result = { value: await work(transaction) };
      if (dryRun) throw new DryRunEnd();
    });
  } catch (error) {
    if (!(error instanceof DryRunEnd)) throw error;
  }
  if (result === undefined) throw new Error('The transaction ended without a result');
  return result.value;
}

async function assertAlone(transaction: Transaction<Tables>): Promise<void> {
  const { rows } = await sql<{ alone: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('manifest', 0)) as alone`.execute(transaction);
  if (rows[0]?.alone !== true) throw busy();
}

/** Adds the path in the manifest to an error without one. */
async function withPath(path: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof ApiError) || error.details !== undefined) throw error;
    const details = [{ path, message: error.message }];
    throw new ApiError(error.code, `${path}: ${error.message}`, { details });
  }
}

/** Reading a manifest may take half a gigabyte of memory, so one at a time. */
async function inTurn<T>(deps: ProvisionDeps, work: () => Promise<T>): Promise<T> {
  if (waiting >= waitingMax) throw busy();
  waiting += 1;
  try {
    return await turns.take(deps.db, work);
  } finally {
    waiting -= 1;
  }
}

function busy(): ApiError {
  return new ApiError('rate_limited', 'Another manifest is being applied', { retryAfter: 5 });
}

import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as fields from '../fields.ts';
import { limits } from '../limits.ts';
import { manifest } from './manifest.ts';

/** The installation manifest, version 1 (contract.md section 9). */

const counts = z.object({
  created: z.number().int(),
  updated: z.number().int(),
  unchanged: z.number().int(),
});

/** Counts of the records that a manifest changed, or would change with dryRun. */
const provisionSummary = z.object({
  applied: z.object({
    users: counts,
    providers: counts,
    models: counts,
    /** Only of a manifest that has some. */
    assistants: counts.optional(),
    prompts: counts.optional(),
    mcpOffers: counts.optional(),
    conversations: z.object({ created: z.number().int(), skipped: z.number().int() }),
  }),
  warnings: z.array(z.string()),
});

/** The summary with a line for each change. */
const provisionReport = provisionSummary.extend({
  dryRun: z.boolean(),
  /** The changes, one line each, for people: at most `limits.provisionChangesMax`; `changesLeftOut` counts the rest. */
  changes: z.array(z.object({ path: z.string(), action: z.enum(['create', 'update']), summary: z.string() })),
  changesLeftOut: z.number().int(),
});
export type ProvisionReport = z.infer<typeof provisionReport>;

export const provisionEndpoints = {
  postProvision: endpoint({
    method: 'POST',
    path: '/api/admin/provision',
    access: 'admin',
    summary:
      'Applies an installation manifest (JSON, or YAML as application/yaml), all or nothing; ?dryRun=1 only reports, ?changes=1 lists the changes',
    query: z.object({ dryRun: fields.booleanFlag.optional(), changes: fields.booleanFlag.optional() }),
    body: manifest,
    // A worker thread reads manifests, and YAML is allowed too.
    bytes: ['application/json', 'application/yaml', 'application/x-yaml', 'text/yaml'],
    bodyBytes: limits.manifestBytes,
    response: z.union([provisionReport, provisionSummary]),
    errors: ['last_admin', 'tier_in_use', 'id_taken', 'email_taken', 'rate_limited'],
  }),
} as const;

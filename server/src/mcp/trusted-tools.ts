import { limits } from '@homeport/contracts/limits';
import type { McpTool } from '@homeport/contracts/mcp/mcp';
import { textChanges } from '@homeport/contracts/mcp/text-changes';
import { type Definitions, fingerprintWith } from './fingerprint.ts';
import { comparableTool } from './tool-comparison.ts';
import { type McpServerRow, parseDefinitions } from './views.ts';

/** A server's current listing, compared with the one that its owner trusted. */

type TrustedRow = Pick<McpServerRow, 'trusted_tools' | 'trusted_fingerprint' | 'volatile_texts'>;
type KnownRow = TrustedRow & Pick<McpServerRow, 'tools' | 'fingerprint'>;

/** Results by listing and trust: a turn compares the same listing before each call. */
const compared = new WeakMap<Definitions, Map<string, boolean>>();

/**
 * Whether a listing is the trusted one. The order of members and of sets, and the accepted texts, may differ; anything
 * else is drift, as is another program.
 */
export function isTrustedListing(row: TrustedRow, listing: Definitions): boolean {
  const { trusted_fingerprint: fingerprint, trusted_tools: text, volatile_texts: volatile } = row;
  if (fingerprint === null || text === null) return false;
  if (listing.fingerprint === fingerprint) return true;
  const key = JSON.stringify([fingerprint, volatile]);
  const known = compared.get(listing) ?? new Map<string, boolean>();
  compared.set(listing, known);
  const isTrusted = known.get(key) ?? isSame(parseDefinitions(text), row, listing);
  known.set(key, isTrusted);
  return isTrusted;
}

function isSame(trusted: McpTool[], row: TrustedRow, { program, tools }: Definitions): boolean {
  const isSameServer = fingerprintWith(program, trusted) === row.trusted_fingerprint;
  return isSameServer && isSameList(trusted, tools, new Set(row.volatile_texts));
}

/**
 * The definitions as they are already known, the trusted ones first, if the listing differs from them only in the order
 * of members or in accepted texts; otherwise the listing itself. With `fingerprint`, only the definitions that have it.
 */
export function asKnown<Listed extends Definitions>(row: KnownRow, listing: Listed, fingerprint?: string): Listed {
  const volatile = new Set(row.volatile_texts);
  if (fingerprint === listing.fingerprint) return listing;
  for (const known of knownLists(row, listing)) {
    if (fingerprint !== undefined && fingerprint !== known.fingerprint) continue;
    if (known.fingerprint === listing.fingerprint) return listing;
    if (isSameList(known.tools, listing.tools, volatile)) return { ...listing, ...known };
  }
  return listing;
}

/** The trusted definitions and the last listed ones, without those of another program. */
function knownLists(row: KnownRow, { program }: Definitions): Pick<Definitions, 'tools' | 'fingerprint'>[] {
  const stored = [
    [row.trusted_tools, row.trusted_fingerprint],
    [row.tools, row.fingerprint],
  ] as const;
  return stored.flatMap(([text, fingerprint]) => {
    if (text === null || fingerprint === null) return [];
    const tools = parseDefinitions(text);
    return fingerprintWith(program, tools) === fingerprint ? [{ tools, fingerprint }] : [];
  });
}

/** False if the trusted tools were those of another program. */
export function isSameProgram(row: TrustedRow, { program }: Definitions): boolean {
  const { trusted_tools: text, trusted_fingerprint: fingerprint } = row;
  return text !== null && fingerprintWith(program, parseDefinitions(text)) === fingerprint;
}

function isSameList(one: readonly McpTool[], other: readonly McpTool[], volatile: ReadonlySet<string>): boolean {
  return (
    one.length === other.length &&
    one.every((tool, index) => {
      const candidate = other[index];
      return candidate !== undefined && comparableTool(tool, volatile) === comparableTool(candidate, volatile);
    })
  );
}

/**
 * Texts whose later changes are ignored: the ones accepted before, and the wanted ones, if nothing but texts differs
 * between this listing and the trusted or the last one.
 */
export function acceptedTexts(row: KnownRow, listing: Definitions, wanted: readonly string[]): string[] {
  const seen = new Set(
    wanted.length === 0 ? [] : knownLists(row, listing).flatMap(({ tools }) => textChanges(tools, listing.tools) ?? []),
  );
  const accepted = new Set([...row.volatile_texts, ...wanted.filter((path) => seen.has(path))]);
  return [...accepted].slice(0, limits.mcpVolatileTexts).sort();
}

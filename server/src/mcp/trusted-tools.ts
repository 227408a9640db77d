import { limits } from '@homeport/contracts/limits';
import type { McpTool } from '@homeport/contracts/mcp/mcp';
import type { Listing } from './connection/connection.ts';
import { type Definitions, fingerprintWith } from './fingerprint.ts';
import { comparableTool, textChanges } from './tool-comparison.ts';
import { type McpServerRow, parseDefinitions } from './views.ts';

/** The parts of a server's current listing that are covered by its owner's trust. */

type TrustedRow = Pick<McpServerRow, 'trusted_tools' | 'trusted_fingerprint' | 'volatile_texts'>;
type KnownRow = TrustedRow & Pick<McpServerRow, 'tools' | 'fingerprint'>;
type Covered = {
  /** The trusted definitions of the tools that the server lists. */
  tools: McpTool[];
  /** Whether the server also lists tools that wait for review. */
  hasMore: boolean;
};

/** By listing and trusted fingerprint: a turn compares the same listing before each call. */
const compared = new WeakMap<Definitions, Map<string, Covered | undefined>>();

/**
 * The trusted tools that this listing still has, in their trusted definitions; undefined if the server has drifted. A
 * changed definition, or another program, is drift. So are added and removed tools, unless the server has announced
 * changes on this connection (`tools/list_changed`): while it has a trusted tool, those remain usable, and added ones
 * wait for review.
 */
export function coveredTools(row: TrustedRow, listing: Listing): Covered | undefined {
  const { trusted_fingerprint: fingerprint, trusted_tools: text } = row;
  if (fingerprint === null || text === null) return undefined;
  const known = compared.get(listing);
  if (known?.has(fingerprint)) return known.get(fingerprint);
  const covered = compare(parseDefinitions(text), fingerprint, new Set(row.volatile_texts), listing);
  compared.set(listing, (known ?? new Map()).set(fingerprint, covered));
  return covered;
}

function compare(
  trusted: McpTool[],
  fingerprint: string,
  volatile: ReadonlySet<string>,
  listing: Listing,
): Covered | undefined {
  if (listing.fingerprint === fingerprint) return { tools: trusted, hasMore: false };
  if (fingerprintWith(listing.program, trusted) !== fingerprint) return undefined;
  const listed = new Map(listing.tools.map((tool) => [tool.name, tool]));
  const tools: McpTool[] = [];
  for (const tool of trusted) {
    const now = listed.get(tool.name);
    if (now === undefined) continue;
    if (comparableTool(now, volatile) !== comparableTool(tool, volatile)) return undefined;
    tools.push(tool);
  }
  const hasMore = listed.size > tools.length;
  if ((hasMore || tools.length < trusted.length) && !listing.hasAnnounced) return undefined;
  if (tools.length === 0 && trusted.length > 0) return undefined;
  return { tools, hasMore };
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

import type { Database } from '../src/db/pool.ts';

/**
 * Tables that a statement reads or writes without naming the owner of the rows. The source is PostgreSQL's plan: its
 * conditions connect each table with a parameter, by columns that lead to one account.
 */

/** The owner, the account, the project or the conversation of a row. */
const ofOwners = ['owner_id', 'user_id', 'project_id', 'chat_id', 'namespace'];
/** Columns that identify one row, or rows of one row, which has one owner. */
const ids: Record<string, readonly string[]> = {
  users: ['id'],
  sessions: ['token', 'id'],
  access_tokens: ['hash', 'id'],
  chats: ['id'],
  projects: ['id'],
  messages: ['id', 'parent_id'],
  plans: ['message_id'],
  summaries: ['id', 'up_to_message_id'],
  told_contexts: ['message_id'],
  told_texts: ['hash'],
  inputs: ['id', 'assistant_id'],
  responses: ['id', 'message_id'],
  response_frames: ['response_id'],
  tool_approvals: ['id', 'response_id'],
  usage_calls: ['response_id'],
  artifacts: ['id', 'assistant_id'],
  artifact_versions: ['artifact_id'],
  models: ['id', 'provider_id'],
  model_stand_ins: ['model_id'],
  providers: ['id'],
  provider_shares: ['provider_id'],
  assistants: ['id'],
  assistant_versions: ['assistant_id'],
  assistant_version_files: ['assistant_id'],
  mcp_servers: ['id'],
  mcp_grants: ['server_id'],
  web_search_settings: ['id'],
  web_sources: ['id', 'message_id'],
  skills: ['id'],
  workspace_leases: ['id'],
  // A content belongs to every user with the same file.
  blobs: ['sha256'],
  documents: ['sha256'],
  document_chunks: ['sha256'],
};
/** Few rows, of the installation: a copy on every shard would be enough. */
const everybodys = ['settings', 'maintenance', 'budgets', 'usage_totals', 'model_registry', 'installation'];
/** Administrators are few, and their shared records are for everyone. */
const administrators = /\brole = 'admin'/;

const conditions = ['Index Cond', 'Recheck Cond', 'TID Cond', 'Filter', 'Join Filter', 'Hash Cond', 'Merge Cond'];

/** A table in a plan: the same one can appear under several names. */
type Instance = { table: string; alias: string; filters: string };
type Plan = Record<string, unknown>;
type Equality = { alias: string; column: string; other: string };
type Found = {
  /** Tables that are read or written for more than one account. */
  across: string[];
  /** It names an account, a project, a conversation or a session, not only the id of another row. */
  isDirect: boolean;
};

export async function lookAtStatements(
  db: Pick<Database, 'openClient'>,
  statements: Iterable<string>,
): Promise<Map<string, Found>> {
  const client = await db.openClient();
  const found = new Map<string, Found>();
  try {
    await client.query('set plan_cache_mode = force_generic_plan');
    for (const text of statements) {
      const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
      const given = count === 0 ? '' : `(${Array.from({ length: count }, () => 'null').join(', ')})`;
      await client.query(`prepare looked_at as ${text}`);
      const { rows } = await client.query(`explain (verbose, format json, costs off) execute looked_at${given}`);
      await client.query('deallocate looked_at');
      const read = judge(nodesOf(rows[0]['QUERY PLAN'][0].Plan));
      const written = judgeInserts(text);
      const across = [...new Set([...read.across, ...written.across])].sort();
      found.set(text, { across, isDirect: read.isDirect || written.isDirect });
    }
  } finally {
    await client.end();
  }
  return found;
}

function nodesOf(plan: Plan): Plan[] {
  const below = Array.isArray(plan.Plans) ? plan.Plans : [];
  return [plan, ...below.flatMap(nodesOf)];
}

function judge(nodes: readonly Plan[]): Found {
  // The rows that a ModifyTable changes were found by a scan below it.
  const scans = nodes.filter((node) => 'Relation Name' in node && node['Node Type'] !== 'ModifyTable');
  const instances = new Map<string, Instance>();
  for (const scan of scans) {
    const alias = String(scan.Alias);
    instances.set(alias, { table: String(scan['Relation Name']), alias, filters: String(scan.Filter ?? '') });
  }
  const equalities = nodes.flatMap((node) => [
    ...conditions.flatMap((name) => equalitiesIn(node[name], nodes)),
    // `exists (…)` in the result, which the planner can turn into a hashed subquery, is not a condition of the
    // statement.
    ...[node.Output].flat().flatMap((each) => (/\bhashed SubPlan/.test(String(each)) ? equalitiesIn(each, nodes) : [])),
  ]);
  const byKey = equalities.filter(({ alias, column }) => isKey(instances.get(alias)?.table, column));
  const bound = new Set(
    [...instances.values()].flatMap(({ alias, filters }) => (administrators.test(filters) ? alias : [])),
  );
  for (let size = -1; size < bound.size; ) {
    size = bound.size;
    for (const { alias, other } of byKey)
      if (aliasesIn(other, instances).every((each) => bound.has(each))) bound.add(alias);
  }
  const across = [...instances.values()].filter(({ alias, table }) => !bound.has(alias) && !everybodys.includes(table));
  const isDirect = byKey.some(
    ({ alias, column, other }) => /^\(?\$\d/.test(other) && namesOwner(instances.get(alias)?.table, column),
  );
  return { across: across.map(({ table }) => table), isDirect };
}

function isKey(table = '', column: string): boolean {
  return ofOwners.includes(column) || (ids[table]?.includes(column) ?? false);
}

function namesOwner(table = '', column: string): boolean {
  return (
    ofOwners.includes(column) ||
    (['users', 'chats', 'projects', 'sessions', 'access_tokens'].includes(table) && isKey(table, column))
  );
}

/** `alias.column = …` that must be true, in both orders. */
function equalitiesIn(condition: unknown, nodes: readonly Plan[]): Equality[] {
  if (typeof condition !== 'string') return [];
  return conjuncts(condition).flatMap((each) => {
    // A row is in the result of a hashed subquery: equal to the selected columns.
    const text = each
      .replace(/^ANY \((.*)\)$/s, '$1')
      .replace(/\(hashed (SubPlan \d+)\)\.col(\d+)/g, (_, name, column) => {
        const subquery = nodes.find((node) => node['Subplan Name'] === name);
        const output = Array.isArray(subquery?.Output) ? subquery.Output : [];
        return String(output[Number(column) - 1]);
      });
    const sides = /^(.+?) = (?:ANY )?(.+)$/s.exec(text);
    if (sides === null || / (?:OR|AND) /.test(text)) return [];
    const [, left = '', right = ''] = sides;
    return [
      [left, right],
      [right, left],
    ].flatMap(([one = '', other = '']) => {
      const [, alias, column] = /^\(?(\w+)\.(\w+)\)?(?:::[\w ]+)?$/.exec(one) ?? [];
      return alias === undefined || column === undefined ? [] : [{ alias, column, other }];
    });
  });
}

/** The parts of a condition between its outermost ANDs, without their parentheses. */
function conjuncts(condition: string): string[] {
  const inner = isWrapped(condition) ? condition.slice(1, -1) : condition;
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < inner.length; at += 1) {
    if (inner[at] === '(') depth += 1;
    if (inner[at] === ')') depth -= 1;
    if (depth === 0 && inner.startsWith(' AND ', at)) {
      parts.push(inner.slice(from, at));
      from = at + 5;
    }
  }
  if (from === 0) return [inner];
  return [...parts, inner.slice(from)].flatMap(conjuncts);
}

/** In one pair of parentheses as a whole. */
function isWrapped(text: string): boolean {
  if (!text.startsWith('(')) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
    if (depth === 0) return at === text.length - 1;
  }
  return false;
}

/** The tables that a value is taken from; other sources are checked where they read tables. */
function aliasesIn(value: string, instances: ReadonlyMap<string, Instance>): string[] {
  return [...value.matchAll(/(\w+)\.\w+/g)].flatMap(([, alias = '']) => (instances.has(alias) ? [alias] : []));
}

/** New rows must name their owner. */
function judgeInserts(text: string): Found {
  const found: Found = { across: [], isDirect: false };
  for (const [, table = '', list] of text.matchAll(/\binsert into "?(\w+)"?(?: as \w+)?\s*(?:\(([^)]*)\))?/g)) {
    const columns = list?.match(/\w+/g) ?? ids[table] ?? [];
    if (columns.some((column) => namesOwner(table, column))) found.isDirect = true;
    const isNamed = columns.some((column) => isKey(table, column));
    if (!isNamed && !everybodys.includes(table)) found.across.push(table);
  }
  return found;
}

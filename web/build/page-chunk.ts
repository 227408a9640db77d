/** The part of the bundler's module graph that the chunk of a page needs. */
type ModuleGraph = { getModuleInfo(id: string): { importedIds: readonly string[] } | null };

/**
 * Puts a page that is loaded on demand into one chunk: gives `name` for `entry` (an absolute path) and for everything of
 * our own code that it imports statically, null for other modules. A library's index names parts that only other pages
 * use. Thirty small chunks would compress worse and cost a request each.
 */
export function pageChunk(name: string, entry: string): (id: string, graph: ModuleGraph) => string | null {
  let members: ReadonlySet<string> | undefined;
  return (id, graph) => {
    members ??= staticImports(entry, graph);
    return members.has(id) ? name : null;
  };
}

function staticImports(entry: string, graph: ModuleGraph): ReadonlySet<string> {
  const found = new Set([entry]);
  for (const id of found) {
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) {
      if (!imported.includes('/node_modules/')) found.add(imported);
    }
  }
  return found;
}

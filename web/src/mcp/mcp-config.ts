/** One server of the JSON that other programs keep their MCP servers in. */
export type PastedServer = {
  name: string;
  transport: 'http' | 'sse' | 'stdio';
  url: string;
  headers: [string, string][];
  command: string;
  args: string[];
  env: [string, string][];
};

/** The first server in `{"mcpServers": {<name>: {…}}}`, in what is inside, or in one entry alone; else undefined. */
export function parseMcpConfig(text: string): PastedServer | undefined {
  const whole = parseObject(text);
  if (whole === undefined) return undefined;
  const inner = objectOf(whole.mcpServers) ?? objectOf(whole.servers) ?? whole;
  const [name, entry] = isEntry(inner) ? ['', inner] : (Object.entries(inner)[0] ?? ['', undefined]);
  const found = objectOf(entry);
  if (found === undefined || !isEntry(found)) return undefined;
  const url = textOf(found.url) ?? textOf(found.serverUrl) ?? '';
  const isProgram = typeof found.command === 'string';
  return {
    name,
    transport: isProgram ? 'stdio' : found.type === 'sse' || found.transport === 'sse' ? 'sse' : 'http',
    url: isProgram ? '' : url,
    headers: pairsOf(found.headers),
    command: textOf(found.command) ?? '',
    args: Array.isArray(found.args) ? found.args.filter((arg) => typeof arg === 'string') : [],
    env: pairsOf(found.env),
  };
}

/** Parses lines of `NAME=value`. Returns the number of the first invalid line, if any. */
export function parseEnvLines(text: string): { env: Record<string, string>; fault: number | undefined } {
  const env: [string, string][] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, name, value] = /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return { env: {}, fault: index + 1 };
    env.push([name, value]);
  }
  return { env: Object.fromEntries(env), fault: undefined };
}

function isEntry(value: Record<string, unknown>): boolean {
  return ['command', 'url', 'serverUrl'].some((name) => typeof value[name] === 'string');
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.entries(value));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function pairsOf(value: unknown): [string, string][] {
  return Object.entries(objectOf(value) ?? {}).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
}

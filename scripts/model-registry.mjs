// Generates server/src/catalogue/registry/models.json from a file of models.dev (`api.json`, MIT):
//   node scripts/model-registry.mjs <api.json> <commit> <day>
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The providers with models in the registry; the other ones are not useful here or repeat these. */
const wanted = [
  ...[
    'openai',
    'anthropic',
    'google',
    'mistral',
    'xai',
    'deepseek',
    'groq',
    'openrouter',
    'togetherai',
    'fireworks-ai',
    'cerebras',
  ],
  ...[
    'moonshotai',
    'alibaba',
    'nvidia',
    'cohere',
    'perplexity',
    'deepinfra',
    'nebius',
    'scaleway',
    'ovhcloud',
    'stackit',
    'zai',
  ],
  ...['minimax', 'huggingface', 'siliconflow', 'llama', 'baseten', 'github-models'],
];

/** The text of a registry, one model per line, from a parsed `api.json`. */
export function registryText(api, source) {
  const providers = wanted.filter((name) => Object.hasOwn(api, name)).map((name) => [name, providerOf(api[name])]);
  const lines = providers.map(([name, { baseUrl, models }]) => {
    const entries = models.map(([id, facts]) => `${JSON.stringify(id)}: ${JSON.stringify(facts)}`).join(',\n');
    const address = baseUrl === undefined ? '' : `"baseUrl": ${JSON.stringify(baseUrl)}, `;
    return `${JSON.stringify(name)}: {${address}"models": {\n${entries}\n}}`;
  });
  return `{\n"source": ${JSON.stringify(source)},\n"providers": {\n${lines.join(',\n')}\n}\n}\n`;
}

function providerOf({ api, models = {} }) {
  return { baseUrl: api, models: Object.entries(models).map(([id, model]) => [id, factsOf(id, model)]) };
}

function factsOf(id, model) {
  const input = (model.modalities?.input ?? []).filter((kind) => kind !== 'text');
  const effort = model.reasoning_options?.find(({ type }) => type === 'effort')?.values;
  const { input: read, output: written, cache_read, cache_write } = model.cost ?? {};
  return {
    name: model.name ?? id,
    context: model.limit?.context ?? 0,
    output: model.limit?.output ?? 0,
    ...(input.length === 0 ? {} : { input }),
    reasoning: model.reasoning === true,
    ...(Array.isArray(effort) ? { effort } : {}),
    tools: model.tool_call === true,
    ...(typeof model.temperature === 'boolean' ? { temperature: model.temperature } : {}),
    ...(model.cost === undefined ? {} : { cost: { input: read, output: written, cache_read, cache_write } }),
    ...(model.release_date === undefined ? {} : { released: model.release_date }),
  };
}

if (import.meta.filename === process.argv[1]) {
  const [from, commit, day] = process.argv.slice(2);
  if (day === undefined) {
    console.error('Usage: node scripts/model-registry.mjs <api.json of models.dev> <commit> <day, YYYY-MM-DD>');
    process.exit(2);
  }
  const source = `anomalyco/models.dev at ${commit} (${day}), MIT, Copyright (c) 2025 models.dev; reduced`;
  const target = join(import.meta.dirname, '../server/src/catalogue/registry/models.json');
  await writeFile(target, registryText(JSON.parse(await readFile(from, 'utf8')), source));
}

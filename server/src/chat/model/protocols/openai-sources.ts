import { type SourceReader, titlesIn } from '../stream/answer-sources.ts';
import { isRecord } from '../stream/storable-text.ts';

/** Sources in the chunks of chat completions, in the members of the servers that search by themselves. */

/** Lists beside the choices, as Perplexity, xAI, Z.ai and Qwen send them with a chunk or with every one. */
export function readSources(sources: SourceReader, chunk: Record<string, unknown>): void {
  const { search_info: info, vertex_ai_grounding_metadata: grounding } = chunk;
  const titles = titlesIn(chunk.search_results);
  sources.list(chunk.citations, { titles, isNumbered: true });
  sources.list(chunk.search_results, { isNumbered: true });
  sources.list(chunk.web_search);
  sources.list(chunk.references);
  if (isRecord(info)) sources.list(info.search_results, { isNumbered: true });
  for (const each of Array.isArray(grounding) ? grounding.slice(0, 8) : []) {
    if (isRecord(each)) sources.list(each.groundingChunks);
  }
}

/** Sources of a message or delta, true if there are any; `context` is that of Azure's own data. */
export function readAnnotations(sources: SourceReader, delta: Record<string, unknown>): boolean {
  const { annotations, citations, references, context, executed_tools: ran } = delta;
  sources.list(annotations);
  sources.list(citations, { isNumbered: true });
  sources.list(references);
  if (isRecord(context)) sources.list(context.citations);
  for (const tool of Array.isArray(ran) ? ran.slice(0, 32) : []) {
    const found: unknown = isRecord(tool) ? tool.search_results : undefined;
    if (isRecord(found)) sources.list(found.results);
  }
  return (
    isRecord(context) ||
    [annotations, citations, references, ran].some((list) => Array.isArray(list) && list.length > 0)
  );
}

import type { FakeKind } from './provider-kinds.ts';

/** Lists of models as their makers' servers send them. Free-standing: Node built-ins only. */

/** The protocol of a request for a list: the makers' own clients are recognized by their headers. */
export function kindOfList({ headers }: { headers: Record<string, string> }): FakeKind {
  if (headers['anthropic-version'] !== undefined) return 'anthropic';
  return headers['x-goog-api-key'] === undefined ? 'openai' : 'gemini';
}

export function modelList(kind: FakeKind, ids: readonly string[]): Record<string, unknown> {
  if (kind === 'anthropic') {
    const data = ids.map((id) => ({
      type: 'model',
      id,
      display_name: id,
      created_at: '2026-01-01T00:00:00Z',
      max_input_tokens: 200_000,
      max_tokens: 64_000,
      lifecycle: 'active',
      capabilities: { image_input: { supported: true }, pdf_input: { supported: true }, thinking: { supported: true } },
    }));
    return { data, has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null };
  }
  if (kind === 'gemini') {
    const models = ids.map((id) => ({
      name: `models/${id}`,
      version: '001',
      displayName: id,
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
      thinking: true,
    }));
    const embedding = {
      name: 'models/embedding',
      displayName: 'Embedding',
      supportedGenerationMethods: ['embedContent'],
    };
    return { models: [...models, embedding] };
  }
  return { object: 'list', data: ids.map((id) => ({ id, object: 'model', created: 0, owned_by: 'fake' })) };
}

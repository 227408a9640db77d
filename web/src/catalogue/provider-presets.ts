/** Providers that many people have; choosing one fills in its name and base URL. */
export const providerPresets = [
  { key: 'Openai', name: 'OpenAI', baseUrl: 'https://api.openai.com/v1', keys: 'platform.openai.com/api-keys' },
  { key: 'Openrouter', name: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1', keys: 'openrouter.ai/keys' },
  { key: 'Ollama', name: 'Ollama', baseUrl: 'http://localhost:11434/v1', keys: undefined },
  { key: 'Lmstudio', name: 'LM Studio', baseUrl: 'http://localhost:1234/v1', keys: undefined },
  { key: 'Other', name: '', baseUrl: '', keys: undefined },
] as const;

export type ProviderPreset = (typeof providerPresets)[number];

/** What a preset puts into a field: it never overwrites what the person typed. */
export function presetValue(field: 'name' | 'baseUrl', preset: ProviderPreset, present: string): string {
  const isOwn = present !== '' && providerPresets.every((each) => each[field] !== present);
  return isOwn ? present : preset[field];
}

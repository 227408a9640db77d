import type { ProviderKind } from '@homeport/contracts/catalogue/provider-kinds';

export type ProviderPreset = {
  key: string;
  name: string;
  kind: ProviderKind;
  baseUrl: string;
  /** Page on which keys are created. */
  keys?: string;
  /** Key prefixes that only this provider uses. */
  prefixes?: readonly string[];
  /** On the person's own machine or network. */
  isLocal?: boolean;
};

/** Providers that many people have; choosing one fills in its name, address and protocol. */
export const providerPresets: readonly [ProviderPreset, ...ProviderPreset[]] = [
  {
    key: 'openai',
    name: 'OpenAI',
    kind: 'openai-responses',
    baseUrl: 'https://api.openai.com/v1',
    keys: 'platform.openai.com/api-keys',
    prefixes: ['sk-proj-', 'sk-svcacct-', 'sk-admin-'],
  },
  {
    key: 'anthropic',
    name: 'Anthropic',
    kind: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    keys: 'platform.claude.com/settings/keys',
    prefixes: ['sk-ant-'],
  },
  {
    key: 'gemini',
    name: 'Google Gemini',
    kind: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com',
    keys: 'aistudio.google.com/app/apikey',
    prefixes: ['AQ.', 'AIza'],
  },
  {
    key: 'openrouter',
    name: 'OpenRouter',
    kind: 'openai',
    baseUrl: 'https://openrouter.ai/api/v1',
    keys: 'openrouter.ai/keys',
    prefixes: ['sk-or-'],
  },
  {
    key: 'mistral',
    name: 'Mistral',
    kind: 'openai',
    baseUrl: 'https://api.mistral.ai/v1',
    keys: 'console.mistral.ai/api-keys',
  },
  {
    key: 'groq',
    name: 'Groq',
    kind: 'openai',
    baseUrl: 'https://api.groq.com/openai/v1',
    keys: 'console.groq.com/keys',
    prefixes: ['gsk_'],
  },
  {
    key: 'deepseek',
    name: 'DeepSeek',
    kind: 'openai',
    baseUrl: 'https://api.deepseek.com',
    keys: 'platform.deepseek.com/api_keys',
  },
  {
    key: 'xai',
    name: 'xAI',
    kind: 'openai',
    baseUrl: 'https://api.x.ai/v1',
    keys: 'console.x.ai',
    prefixes: ['xai-'],
  },
  {
    key: 'together',
    name: 'Together',
    kind: 'openai',
    baseUrl: 'https://api.together.ai/v1',
    keys: 'api.together.ai/settings/projects/~current/api-keys',
    prefixes: ['tgp_v1_'],
  },
  {
    key: 'fireworks',
    name: 'Fireworks',
    kind: 'openai',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keys: 'app.fireworks.ai/settings/users/api-keys',
    prefixes: ['fw_'],
  },
  {
    key: 'cerebras',
    name: 'Cerebras',
    kind: 'openai',
    baseUrl: 'https://api.cerebras.ai/v1',
    keys: 'cloud.cerebras.ai',
    prefixes: ['csk-'],
  },
  { key: 'ollama', name: 'Ollama', kind: 'openai', baseUrl: 'http://localhost:11434/v1', isLocal: true },
  { key: 'lmstudio', name: 'LM Studio', kind: 'openai', baseUrl: 'http://localhost:1234/v1', isLocal: true },
  { key: 'vllm', name: 'vLLM', kind: 'openai', baseUrl: 'http://localhost:8000/v1', isLocal: true },
  { key: 'llamacpp', name: 'llama.cpp', kind: 'openai', baseUrl: 'http://localhost:8080/v1', isLocal: true },
  { key: 'other', name: '', kind: 'openai', baseUrl: '' },
];

/** Value that a preset puts into a field; it never overwrites an edited value. */
export function presetValue(field: 'name' | 'baseUrl', preset: ProviderPreset, present: string): string {
  const isOwn = present !== '' && providerPresets.every((each) => each[field] !== present);
  return isOwn ? present : preset[field];
}

/** The preset that a pasted key is unmistakably for. */
export function presetOfKey(key: string): ProviderPreset | undefined {
  return providerPresets.find(({ prefixes }) => prefixes?.some((prefix) => key.trim().startsWith(prefix)));
}

/** The preset of a provider on the internet that is at this address. */
export function hostedPreset(baseUrl: string): ProviderPreset | undefined {
  if (!URL.canParse(baseUrl.trim())) return undefined;
  const { origin } = new URL(baseUrl.trim());
  return providerPresets.find((each) => each.keys !== undefined && new URL(each.baseUrl).origin === origin);
}

/**
 * The protocol that a provider speaks; `openai` is chat completions, which most servers offer. Free of zod, for the
 * browser.
 */
export const providerKinds = ['openai', 'openai-responses', 'anthropic', 'gemini'] as const;
export type ProviderKind = (typeof providerKinds)[number];

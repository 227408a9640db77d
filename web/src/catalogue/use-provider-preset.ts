import type { Provider } from '@homeport/contracts/catalogue/catalogue';
import { useEffect, useRef, useState } from 'react';
import type { ApiForm } from '../forms/use-api-form.ts';
import { type ProviderPreset, presetOfKey, presetValue, providerPresets } from './provider-presets.ts';
import type { ProviderValues } from './provider-values.ts';

/** The chosen preset of a new provider: fills the form's fields, and follows the entered URL and key. */
export function useProviderPreset(
  form: ApiForm<ProviderValues>['form'],
  provider: Provider | undefined,
  initialPreset: ProviderPreset,
) {
  const [preset, setPreset] = useState(initialPreset);
  const choosePreset = (key: ProviderPreset['key']) => {
    const next = providerPresets.find((each) => each.key === key) ?? preset;
    setPreset(next);
    const { name, baseUrl } = form.getValues();
    const address = presetValue('baseUrl', next, baseUrl);
    form.setFieldValue('name', presetValue('name', next, name));
    if (address === next.baseUrl) form.setFieldValue('kind', next.kind);
    form.setFieldValue('baseUrl', address);
  };
  // Most OpenAI-compatible servers support only chat completions; Anthropic and Gemini are deliberate choices.
  const setBaseUrl = (baseUrl: string) => {
    const { kind } = form.getValues();
    form.setFieldValue('baseUrl', baseUrl);
    if (provider || preset.kind !== 'openai-responses') return;
    if (kind === preset.kind && baseUrl !== preset.baseUrl) form.setFieldValue('kind', 'openai');
    if (kind === 'openai' && baseUrl === preset.baseUrl) form.setFieldValue('kind', preset.kind);
  };
  // A key that is unmistakably for another provider picks it, unless an address was typed.
  const { apiKey } = form.values;
  const hit = provider ? undefined : presetOfKey(apiKey);
  const meant = hit && presetValue('baseUrl', hit, form.values.baseUrl) === hit.baseUrl ? hit.key : undefined;
  const pick = useRef(choosePreset);
  pick.current = choosePreset;
  useEffect(() => {
    if (meant !== undefined) pick.current(meant);
  }, [meant]);
  return { preset, choosePreset, setBaseUrl };
}

import 'virtual:texts/catalogue';
import type { Model } from '@homeport/contracts/catalogue/catalogue';
import type { FactName } from '@homeport/contracts/catalogue/model-facts';
import type { Translate } from '../i18n/i18n.ts';

/** Text for the source of a fact: the provider's list, the registry, or a person. */
export function sourceText(model: Model, name: FactName, t: Translate): string {
  return t(`facts.source.${model.sources[name] ?? 'unknown'}`);
}

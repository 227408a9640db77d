import type { Model } from '@homeport/contracts/catalogue/catalogue';
import { limits } from '@homeport/contracts/limits';
import type { CallOptions } from '../../api/api.ts';
import type { Translate } from '../../i18n/i18n.ts';
import { type ModelValues, modelValues, sizesBody } from './model-values.ts';

/** Abilities that can be switched, and prices in US dollars per million tokens; '' if unknown. */
export type FactValues = {
  abilities: Omit<Model['abilities'], 'reasoning'>;
  prices: { input: number | string; output: number | string };
};
type FormValues = ModelValues & FactValues & { standIns: string[] };
type Patch = CallOptions<'PATCH /api/models'>['body'];

const millionths = 1_000_000;

export function modelFormValues(model: Model): FormValues {
  const { images, documents, tools, temperature } = model.abilities;
  const price = (value: number | null | undefined) => (typeof value === 'number' ? value / millionths : '');
  return {
    ...modelValues(model),
    standIns: [...model.standIns],
    abilities: { images, documents, tools, temperature },
    prices: { input: price(model.prices?.input), output: price(model.prices?.output) },
  };
}

export function factFaults({ prices }: Pick<FactValues, 'prices'>, t: Translate): Record<string, string | null> {
  const max = limits.priceMax / millionths;
  return Object.fromEntries(
    Object.entries(prices).map(([name, value]) => {
      const isFine = value === '' || (Number(value) >= 0 && Number(value) <= max);
      return [`prices.${name}`, isFine ? null : t('form.price', { max })];
    }),
  );
}

/** Changed fields only: every sent field gets the source `person`, which a refresh never overwrites. */
export function modelPatch(model: Model, values: FormValues): Patch {
  const before = modelFormValues(model);
  const names = { displayName: values.displayName.trim(), providerModelId: values.providerModelId.trim() };
  const simple = Object.entries({ ...names, ...sizesBody(values) }).filter(
    ([name, value]) => Reflect.get(model, name) !== value,
  );
  return {
    id: model.id,
    ...Object.fromEntries(simple),
    ...(values.standIns.join() === before.standIns.join() ? {} : { standIns: values.standIns }),
    ...(isSame(values.abilities, before.abilities) ? {} : { abilities: { ...model.abilities, ...values.abilities } }),
    ...(isSame(values.prices, before.prices) ? {} : { prices: pricesOf(model, values.prices) }),
  };
}

function pricesOf({ prices }: Model, { input, output }: FactValues['prices']): Model['prices'] {
  if (input === '' && output === '') return null;
  const price = (value: number | string) => (value === '' ? null : Math.round(Number(value) * millionths));
  return { cachedInput: null, cacheWrite: null, ...prices, input: price(input), output: price(output) };
}

function isSame(one: object, other: object): boolean {
  return Object.entries(one).every(([name, value]) => String(Reflect.get(other, name)) === String(value));
}

/** Option for a language or a time zone, labeled in `locale`. */
export type Choice = { value: string; label: string };

const languages = (
  'ar bg bn ca cs da de de-AT de-CH el en-AU en-CA en-GB en-US es es-MX et eu fa fi fr fr-CA ga gl gu he hi hr hu id is it ja ka kk kn ko ' +
  'lt lv mk ml mr ms nb nl pa pl pt pt-BR ro ru sk sl sq sr sv sw ta te th tr uk ur uz vi zh-CN zh-TW'
).split(' ');

/** Languages by name; `others` are always included. */
export function languageChoices(locale: string, others: readonly (string | null)[]): Choice[] {
  const names = new Intl.DisplayNames(locale, { type: 'language', fallback: 'code' });
  const tags = new Set([...languages, ...others.filter((tag) => tag !== null && tag !== '')]);
  return [...tags]
    .map((value) => ({ value: value ?? '', label: languageName(names, value ?? '') }))
    .sort((a, b) => a.label.localeCompare(b.label, locale));
}

/** Time zones under their continents. */
export function timeZoneChoices(others: readonly (string | null)[]): { group: string; items: Choice[] }[] {
  const groups = new Map<string, Choice[]>();
  const zones = new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), ...others.filter((zone) => zone !== null)]);
  for (const value of [...zones].sort()) {
    const [group = value, ...rest] = value.split('/');
    const label = (rest.join(' / ') || value).replaceAll('_', ' ');
    const name = rest.length === 0 ? 'UTC' : group;
    groups.set(name, [...(groups.get(name) ?? []), { value, label }]);
  }
  return [...groups].map(([group, items]) => ({ group, items }));
}

/** Language and time zone of the browser. */
export function browserLocale(): { language: string; timeZone: string } {
  const language = navigator.language || 'en';
  return { language, timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC' };
}

function languageName(names: Intl.DisplayNames, tag: string): string {
  try {
    return names.of(tag) ?? tag;
  } catch {
    return tag;
  }
}

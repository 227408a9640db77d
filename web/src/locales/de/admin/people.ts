import type { texts as english } from '../../en/admin/people.ts';

export const texts: Record<keyof typeof english, string> = {
  'people.search': 'Name oder E-Mail-Adresse',
  'people.hint': 'Du findest Personen aus deinen Projekten, alle anderen über ihre vollständige E-Mail-Adresse.',
  'people.found': 'Gefundene Personen',
  'people.chosen': 'Ausgewählte Personen',
  'people.remove': '{name} entfernen',
  'people.noHits': 'Niemand passt zu „{query}“.',
  'people.none': 'Niemand passt zu „{query}“. Gib die vollständige E-Mail-Adresse ein, wenn ihr kein Projekt teilt.',
};

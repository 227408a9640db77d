import type { texts as english } from '../../en/chat/rendered.ts';

/** Texts around pages that models make, in German. A missing or surplus id does not compile. */
export const texts: Record<keyof typeof english, string> = {
  'rendered.title': '{name}, ausgeführt',
  'rendered.again': 'Neu starten',
  'rendered.full': 'Vollbild',
  'rendered.faults': 'Die Seite meldet Fehler',
  'rendered.fix': 'Modell um Korrektur bitten',
  'rendered.tooLarge': 'Zu groß, um hier zu laufen. Zum Öffnen herunterladen.',
  'rendered.preview': 'Vorschau',
  'rendered.source': 'Quelltext',
  'rendered.fixRequest':
    'Wenn ich {name} öffne, erscheinen diese Fehler. Bitte behebe sie und veröffentliche die Datei erneut.',
  'rendered.fixBlock': 'Wenn ich diesen {name}-Code ausführe, erscheinen diese Fehler. Bitte behebe sie.',
  'rendered.fixFile': 'Wenn ich {name} öffne, erscheinen diese Fehler. Bitte behebe sie.',
};

import type { texts as english } from '../../en/workspace/previews.ts';

/** Texte von Apps, die im Arbeitsbereich laufen. */
export const texts: Record<keyof typeof english, string> = {
  'ports.tab': 'Apps',
  'ports.none': 'Es läuft keine App',
  'ports.noneHint': 'Bitte um eine App oder starte einen Server im Terminal. Er erscheint hier mit seinem Port.',
  'ports.list': 'Laufende Apps',
  'ports.port': 'Port {port}',
  'ports.open': 'Öffnen',
  'ports.openPort': 'Port {port} öffnen',
  'ports.openTab': 'In neuem Tab öffnen',
  'ports.back': 'Alle Apps',
  'ports.reload': 'App neu laden',
  'ports.full': 'Vollbild',
  'ports.frame': 'App an Port {port}',
  'ports.noAddress': 'Unter dieser Adresse lassen sich Apps nicht öffnen.',
  'ports.noAddressHint': 'Öffne Homeport unter localhost oder bitte die Administration, PREVIEW_ORIGIN zu setzen.',
  'ports.failed': 'Die App konnte nicht geöffnet werden',
  'ports.noStorage':
    'Dieser Browser speichert nichts für Apps in diesem Bereich. Wenn die App etwas speichern oder dich anmelden muss, öffne sie in einem eigenen Tab.',
  'ports.dismiss': 'Ausblenden',
  'ports.storageFrame': 'Prüfung des Speichers',
  'ports.openApp': 'App öffnen',
};

import type { texts as english } from './en-catalogue.ts';

export const texts: Record<keyof typeof english, string> = {
  'preset.key': 'Braucht einen API-Schlüssel von {name}.',
  'preset.local': 'Starte zuerst den Server. Meist braucht er keinen Schlüssel.',
  'preset.find': 'Lokale Server suchen',
  'preset.finding': 'Suche läuft…',
  'preset.none':
    'An den üblichen Ports hat kein Modellserver geantwortet. Starte einen oder gib unten seine Adresse ein.',
  'preset.closed':
    'Diese Installation darf keine lokalen Adressen aufrufen. Wer sie betreibt, kann das mit ALLOW_PRIVATE_EGRESS und ALLOW_INSECURE_HTTP erlauben.',
  'preset.found': '{count, plural, =0 {noch keine Modelle} one {# Modell} other {# Modelle}}',
  'preset.needsKey': 'braucht einen Schlüssel',
  'preset.use': '{name} unter {address} verwenden',

  'sharing.legend': 'Wer seine Modelle nutzen kann',
  'sharing.none': 'Nur ich',
  'sharing.everyone': 'Alle hier',
  'sharing.users': 'Ausgewählte Personen',
  'sharing.hint.none': 'Andere sehen diesen Anbieter nicht.',
  'sharing.hint.everyone':
    'Alle können seine aktiven Modelle auf deine Kosten nutzen. Niemand sieht den Schlüssel oder die Header.',
  'sharing.hint.users':
    'Sie können seine aktiven Modelle auf deine Kosten nutzen. Niemand sieht den Schlüssel oder die Header.',
  'sharing.search': 'Personen suchen',
  'sharing.people': 'Personen',
  'sharing.chosen': '{count, plural, =0 {Niemand ausgewählt} one {# Person ausgewählt} other {# Personen ausgewählt}}',
  'sharing.noHits': 'Keine Person passt zu „{query}“.',
  'sharing.factEveryone': 'mit allen geteilt',
  'sharing.factUsers':
    '{count, plural, =0 {mit niemandem geteilt} one {mit # Person geteilt} other {mit # Personen geteilt}}',
  'sharing.factShared': 'von der Administration geteilt',
  'sharing.noModelTitle': 'Diese Person hat noch kein Modell',
  'sharing.noModelText':
    'Kein Anbieter mit einem aktiven Modell ist mit allen geteilt. Unter {place} kannst du einen teilen.',

  'refresh.action': 'Aktualisieren',
  'refresh.title': 'Modelle von {name} aktualisieren',
  'refresh.none': 'Alles ist auf dem neuesten Stand.',
  'refresh.text': 'Der Anbieter oder das Verzeichnis gibt jetzt anderes an. Was du selbst eingetragen hast, bleibt.',
  'refresh.gone': 'Nicht mehr aufgeführt',
  'refresh.goneText': 'Der Anbieter führt diese nicht mehr auf: {names}. Sie bleiben, bis du sie löschst.',
  'refresh.apply': '{count, plural, one {# Änderung} other {# Änderungen}} übernehmen',
  'refresh.applied': '{count, plural, one {# Modell aktualisiert.} other {# Modelle aktualisiert.}}',
  'refresh.change': '{before} → {after}',
  'refresh.field.displayName': 'Name',
  'refresh.field.contextWindow': 'Kontextfenster',
  'refresh.field.maxOutputTokens': 'Max. Ausgabe-Tokens',
  'refresh.field.abilities': 'Fähigkeiten',
  'refresh.field.prices': 'Preis für 1 Mio. Tokens',
  'refresh.unknown': 'unbekannt',
  'refresh.source.provider': 'laut Anbieter',
  'refresh.source.registry': 'aus dem Verzeichnis',

  'facts.tools': 'Tools',
  'facts.text': 'nur Text',
  'facts.loadedOf': '{count} von {possible} Tokens geladen',
  'facts.notLoaded': 'nicht geladen: läuft evtl. mit weniger',
  'facts.smallWindow': 'Kleines Fenster für Tools: Unter 16k Tokens passen lange Ergebnisse nicht hinein.',
  'facts.tightForTools': 'knapp für Tools',

  'picker.favourites': 'Favoriten',
  'picker.recent': 'Zuletzt verwendet',
  'picker.favourite': 'Favorit: {name}',
};

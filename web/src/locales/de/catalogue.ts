import type { texts as english } from '../en/catalogue.ts';

export const texts: Record<keyof typeof english, string> = {
  'provider.firstByte': 'Warten auf das erste Byte, in Sekunden',
  'provider.firstByteHint':
    'So lange darf ein Modell schweigen, bevor seine Antwort als gescheitert gilt. Leer: 600 s an privaten Adressen, sonst 300 s.',
  'provider.firstByteFault': 'Eine ganze Zahl von {min} bis {max}',
  'preset.key': 'Braucht einen API-Schlüssel von {name}.',
  'preset.local': 'Starte zuerst den Server. Meist braucht er keinen Schlüssel.',
  'preset.find': 'Lokale Server suchen',
  'preset.finding': 'Suche läuft…',
  'preset.none':
    'An den üblichen Ports hat kein Modellserver geantwortet. Starte einen oder gib unten seine Adresse ein.',
  'preset.closed':
    'Diese Installation darf keine lokalen Adressen aufrufen. Ihr Betreiber kann das mit ALLOW_PRIVATE_EGRESS und ALLOW_INSECURE_HTTP erlauben.',
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

  'refresh.action': 'Aktualisieren',
  'refresh.title': 'Modelle von {name} aktualisieren',
  'refresh.none': 'Alles ist auf dem neuesten Stand.',
  'refresh.text': 'Der Anbieter oder das Verzeichnis hat neue Werte. Von dir eingetragene Werte bleiben erhalten.',
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

  'standIns.label': 'Vertretung {number}',
  'standIns.none': 'Keine',
  'standIns.hint':
    'Antworten in dieser Reihenfolge, wenn der Anbieter dieses Modells vor dem ersten Wort ausfällt. Bis zu drei.',
  'standIns.unknown': 'Ein anderes Modell',
  'standIns.because.overloaded': '{model} hat geantwortet, weil der Anbieter des gewählten Modells überlastet war.',
  'standIns.because.rate_limit':
    '{model} hat geantwortet, weil beim Anbieter des gewählten Modells das Anfragelimit erreicht war.',
  'standIns.because.unreachable':
    '{model} hat geantwortet, weil der Anbieter des gewählten Modells nicht erreichbar war.',
  'standIns.because.error': '{model} hat geantwortet, weil beim Anbieter des gewählten Modells ein Fehler auftrat.',
  'provider.region': 'Region',
  'provider.regionHint': 'Wo er Daten verarbeitet, zum Beispiel EU. Freiwillig.',
  'provider.onlyRegions': 'Regionen der Vertretungen',
  'provider.onlyRegionsHint': 'Namen, durch Kommas getrennt. Leer: Vertretungen aus jeder Region.',
  'provider.outage.overloaded':
    'Dieser Anbieter ist immer wieder überlastet und wird daher nur selten gefragt, bis er wieder antwortet.',
  'provider.outage.rate_limit':
    'Dieser Anbieter erreicht immer wieder sein Anfragelimit und wird daher nur selten gefragt, bis er wieder antwortet.',
  'provider.outage.unreachable':
    'Dieser Anbieter ist nicht erreichbar und wird daher nur selten gefragt, bis er wieder antwortet.',
  'provider.outage.error':
    'Bei diesem Anbieter treten immer wieder Fehler auf. Er wird daher nur selten gefragt, bis er wieder antwortet.',
  'lessons.title': 'Vom Server gelernt',
  'lessons.tools': 'Dieser Server nimmt keine Werkzeug-Definitionen an.',
  'lessons.images': 'Dieser Server nimmt keine Bilder an.',
  'lessons.system':
    'Dieser Server nimmt keine Systemnachricht an. Anweisungen stehen stattdessen in der ersten Nachricht.',
  'lessons.reasoning': 'Dieser Server nimmt keine Denkstufe an.',
  'lessons.parameter': 'Dieser Server nimmt den Parameter {name} nicht an.',
  'lessons.maxOutput': 'Der Server nimmt höchstens {count} Ausgabe-Tokens an.',
  'lessons.context': 'Das Kontextfenster des Servers hat {count} Tokens.',
  'lessons.day': 'Gelernt am {day}.',
  'lessons.use': 'Zahl übernehmen',
  'lessons.forget': 'Vergessen',
  'facts.title': 'Fähigkeiten und Preis',
  'facts.ability.images': 'Sieht Bilder',
  'facts.ability.documents': 'Liest PDFs selbst',
  'facts.ability.tools': 'Verwendet Tools',
  'facts.ability.temperature': 'Nimmt eine Temperatur an',
  'facts.price.input': 'Eingabe, US-$',
  'facts.price.output': 'Ausgabe, US-$',
  'facts.source.provider': 'Vom Anbieter.',
  'facts.source.registry': 'Aus Homeports Verzeichnis.',
  'facts.source.person': 'Von Hand eingetragen.',
  'facts.estimate':
    'Geschätzt nach dem Listenpreis des Herstellers: {prices}. Trage deinen ein, wenn dein Server anders abrechnet.',
  'facts.about': 'etwa {price}',
  'facts.source.unknown': 'Unbekannt.',
  'form.price': 'Gib einen Betrag von 0 bis {max, number} ein.',
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

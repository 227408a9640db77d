/** Texte für Personen, die Modelle und Werkzeuge nicht verwalten: Sie nennen, wer helfen kann. */
export const texts = {
  'empty.noModelTitle': 'Füge zuerst ein Modell hinzu',
  'empty.noModelText': 'Verbinde einen Anbieter mit Adresse und API-Schlüssel und wähle dann seine Modelle.',
  'empty.noModelAction': 'Anbieter hinzufügen',
  'ask.modelTitle': 'Du hast noch kein Modell',
  'ask.model':
    '{names, select, none {Bitte deinen Administrator, ein Modell mit dir zu teilen.} other {Bitte {names}, ein Modell mit dir zu teilen.}} Danach kannst du gleich losschreiben.',
  'ask.ownModel': 'Ein eigenes Modell verwenden',
  'ask.closedTitle': 'Das ist für dich eingerichtet',
  'ask.closedText':
    '{names, select, none {Dein Administrator kümmert sich darum.} other {Wende dich an {names}, wenn du etwas anderes brauchst.}}',
  'ask.closedHint': 'Hier ist nichts einzurichten.',
  'ask.closedAction': 'Zu deinem Konto',
  'ask.email':
    '{names, select, none {Bitte deinen Administrator, sie zu ändern.} other {Bitte {names}, sie zu ändern.}}',
  'ask.broken':
    '{names, select, none {Dieses Modell funktioniert gerade nicht. Wähle ein anderes oder sag deinem Administrator Bescheid.} other {Dieses Modell funktioniert gerade nicht. Wähle ein anderes oder sag {names} Bescheid.}}',
  'ask.busy': 'Dieses Modell ist gerade ausgelastet. Versuche es gleich noch einmal.',
  'ask.loading': 'Dieses Modell wird noch geladen. Versuche es in einer Minute noch einmal.',
  'ask.filtered': 'Das Modell hat diese Nachricht abgelehnt. Formuliere sie anders oder wähle ein anderes Modell.',
  'ask.tooLong': 'Diese Unterhaltung ist zu lang für das Modell. Beginne eine neue oder wähle ein anderes Modell.',
  'ask.image': 'Das Modell kann dieses Bild nicht verwenden. Wähle ein anderes Modell oder entferne das Bild.',
  'ask.gone':
    '{names, select, none {Kein Modell ist verfügbar. Wähle ein anderes oder bitte deinen Administrator, eines zu teilen.} other {Kein Modell ist verfügbar. Wähle ein anderes oder bitte {names}, eines zu teilen.}}',
  'ask.tool':
    '{names, select, none {Ein Werkzeug funktioniert gerade nicht. Versuche es noch einmal oder sag deinem Administrator Bescheid.} other {Ein Werkzeug funktioniert gerade nicht. Versuche es noch einmal oder sag {names} Bescheid.}}',
  'ask.forbidden':
    '{names, select, none {Dein Konto darf das nicht ändern. Wende dich an deinen Administrator.} other {Dein Konto darf das nicht ändern. Wende dich an {names}.}}',
} as const;

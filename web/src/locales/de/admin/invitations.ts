/** Texte der Einladungen außer der Liste: ein Modell für die Person, und ein Link, der sich öffnen lässt. */
export const texts = {
  'firstModel.text':
    'Teile einen Anbieter mit allen hier, dann kann die Person gleich loslegen. Sie verwendet seine aktiven Modelle auf deine Kosten; niemand sieht den Schlüssel.',
  'firstModel.share': '{name} teilen',
  'firstModel.shared': '{name} ist jetzt mit allen hier geteilt.',
  'firstModel.none':
    'Hier teilt noch niemand ein Modell. Füge zuerst eines hinzu, dann kann die Person gleich loslegen.',
  'firstModel.add': 'Anbieter hinzufügen',
  'firstModel.without': 'Ohne Modell einladen',
  'firstModel.addWithout': 'Ohne Modell anlegen',
  'firstModel.addNeeded': 'Teile zuerst ein Modell, oder lege die Person bewusst ohne eines an.',
  'firstModel.needed': 'Teile zuerst ein Modell, oder lade bewusst ohne eines ein.',
  'invitations.onlyHereTitle': 'Dieser Link öffnet sich nur auf diesem Computer',
  'invitations.onlyHere':
    'Andere erreichen ihn nicht. Starte Homeport mit HOST=0.0.0.0 und lade unter seiner Adresse im Netzwerk ein, oder setze BASE_URL auf eine öffentliche Adresse.',
  'invitations.network': 'Link für dein Netzwerk',
  'invitations.networkHint': 'Öffnet sich auf anderen Geräten im selben Netzwerk.',
} as const;

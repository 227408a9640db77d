/** Aufgaben in den Einstellungen, und die Wörter, mit denen man sie sucht. */
export const texts = {
  'settings.data': 'Daten',
  'settings.modelsAndTools': 'Modelle und Werkzeuge',
  'settings.aboutYou': 'Über dich',
  'settings.pagesOf': 'Seiten von {group}',
  'palette.topic': '{topic} · {page}',

  'topic.password': 'Passwort ändern',
  'topic.password.words': 'passwort kennwort ändern vergessen zurücksetzen anmeldung sicherheit password',
  'topic.email': 'Name und E-Mail-Adresse',
  'topic.email.words': 'name email e-mail mail adresse profil',
  'topic.appearance': 'Darstellung und Sprache',
  'topic.appearance.words':
    'dunkel hell dunkelmodus dark mode theme design farbe farben aussehen sprache deutsch englisch senden eingabetaste enter scrollen',
  'topic.sessions': 'Angemeldete Browser',
  'topic.sessions.words': 'sitzungen geräte browser abmelden ausloggen logout überall sessions',
  'topic.aboutYou': 'Anweisungen über dich',
  'topic.aboutYou.words': 'eigene anweisungen über mich gedächtnis ton stil persönlichkeit profil custom instructions',
  'topic.prompts': 'Gespeicherte Prompts',
  'topic.prompts.words': 'prompts vorlagen textbausteine kürzel befehle templates',
  'topic.export': 'Deine Daten herunterladen',
  'topic.export.words':
    'export exportieren herunterladen download daten sichern sicherung backup kopie archiv dsgvo datenschutz',
  'topic.import': 'Unterhaltungen importieren',
  'topic.import.words': 'import importieren hochladen umziehen übertragen chatgpt claude verlauf',
  'topic.deleteAccount': 'Dein Konto löschen',
  'topic.deleteAccount.words': 'konto löschen account entfernen schließen kündigen daten datenschutz delete',
  'topic.shares': 'Geteilte Links',
  'topic.shares.words': 'teilen geteilt geteilte links freigabe freigaben öffentlich veröffentlichen beenden share',
  'topic.usage': 'Nutzung und Kosten',
  'topic.usage.words': 'nutzung verbrauch kosten ausgaben geld preis statistik grenze budget token usage',
  'topic.apiKey': 'API-Schlüssel eines Anbieters hinzufügen',
  'topic.apiKey.words':
    'api key schlüssel api-schlüssel anbieter provider openai anthropic claude gemini mistral ollama openrouter verbinden basisadresse url',
  'topic.models': 'Modelle auswählen',
  'topic.models.words': 'modelle modell standard llm gpt claude hinzufügen ausblenden preis preise model',
  'topic.tools': 'Werkzeuge verbinden',
  'topic.tools.words':
    'werkzeuge tools mcp server connectoren erweiterungen plugins integrationen websuche internet suche berechtigungen regeln',
  'topic.tokens': 'Zugriffstoken erstellen',
  'topic.tokens.words':
    'zugriffstoken zugangstoken token api key schlüssel entwickler cli programm agent geheimnis access',
  'topic.invite': 'Jemanden einladen',
  'topic.invite.words':
    'einladen einladung einladungen leute person personen benutzer mitglied team hinzufügen link registrieren invite',
  'topic.people': 'Personen verwalten',
  'topic.people.words':
    'benutzer personen leute konten mitglieder rollen admin administrator sperren löschen passwort zurücksetzen anlegen berechtigungen users',
  'topic.singleSignOn': 'Single Sign-on einrichten',
  'topic.singleSignOn.words': 'sso single sign-on oidc openid google microsoft entra okta keycloak anmeldung saml',
  'topic.branding': 'Name und Logo',
  'topic.branding.words': 'branding logo symbol favicon farbe name titel anpassen',
  'topic.budgets': 'Ausgaben begrenzen',
  'topic.budgets.words': 'budget budgets grenze grenzen begrenzen limit kontingent ausgaben kosten geld',
  'topic.audit': 'Nachsehen, wer was getan hat',
  'topic.audit.words': 'audit protokoll log verlauf ereignisse sicherheit aktivität',
  'topic.backups': 'Sicherung erstellen',
  'topic.backups.words': 'backup backups sicherung sicherungen sichern wiederherstellen archiv',
  'topic.check': 'Installation prüfen',
  'topic.check.words':
    'doctor prüfen prüfung zustand status diagnose problem fehler festplatte speicherplatz version update',
} as const;

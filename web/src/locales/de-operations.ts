import type { texts as english } from './en-operations.ts';

/** Texts of backups and of the state of the installation, in German. A missing or surplus id does not compile. */
export const texts: Record<keyof typeof english, string> = {
  'backups.text':
    'Eine Datei mit allem: Konten, Unterhaltungen, Dateien, Einstellungen. Währenddessen muss niemand warten.',
  'backups.make': 'Sicherung erstellen',
  'backups.making': 'Eine Sicherung wird erstellt',
  'backups.begun': 'Die Sicherung hat begonnen.',
  'backups.place': 'Sicherungen kommen nach {place}.',
  'backups.scheduled':
    'Nach Zeitplan: {schedule} (UTC). {keep, plural, one {Die neueste bleibt} other {Die neuesten # bleiben}} erhalten.',
  'backups.unscheduled': 'Von selbst wird keine erstellt. Das ändert BACKUP_SCHEDULE.',
  'backups.encrypted': 'Sie sind mit dem Kennwort in BACKUP_PASSPHRASE verschlüsselt.',
  'backups.plain':
    'Sie sind nicht verschlüsselt und enthalten die Schlüssel der Installation nicht: Bewahre auch secrets.json oder deine Einstellungen auf.',
  'backups.list': 'Bisherige Sicherungen',
  'backups.listText': 'Stelle eine mit dem Befehl „restore“ der Administration an einem leeren Ort wieder her.',
  'backups.empty': 'Noch keine Sicherungen',
  'backups.emptyText': 'Erstelle jetzt die erste. Das geht auch, während andere chatten.',
  'backups.cause.command': 'Von der Befehlszeile',
  'backups.cause.schedule': 'Nach Zeitplan',
  'backups.cause.page': 'Von dieser Seite',
  'backups.state.running': 'Läuft',
  'backups.state.done': 'Fertig',
  'backups.state.failed': 'Fehlgeschlagen',
  'backups.state.lost': 'Abgebrochen',
  'backups.lost': 'Der Prozess, der sie erstellt hat, ist beendet. Erstelle eine neue.',
  'backups.progress': '{rows, number} Zeilen, {files, plural, one {# Datei} other {# Dateien}}',
  'doctor.title': 'Ist meine Installation in Ordnung?',
  'doctor.text':
    'Prüft Einstellungen, Datenbank, Platte, Dateien, Sicherungen, Arbeitsbereiche und den Weg durch deinen Proxy.',
  'doctor.run': 'Jetzt prüfen',
  'doctor.running': 'Wird geprüft',
  'doctor.ok': 'In Ordnung',
  'doctor.warning': 'Bitte ansehen',
  'doctor.failed': 'Falsch',
  'doctor.allFine': 'Alles ist, wie es sein soll.',
  'doctor.found':
    '{count, plural, one {# Punkt braucht deine Aufmerksamkeit.} other {# Punkte brauchen deine Aufmerksamkeit.}}',
};

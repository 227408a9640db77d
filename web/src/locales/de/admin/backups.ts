import type { texts as english } from '../../en/admin/backups.ts';

/** Texts of backups and of the state of the installation, in German. A missing or surplus id does not compile. */
export const texts: Record<keyof typeof english, string> = {
  'backups.text':
    'Eine Datei mit allen Daten: Konten, Unterhaltungen, Dateien und Einstellungen. Währenddessen können alle weiterarbeiten.',
  'backups.make': 'Sicherung erstellen',
  'backups.making': 'Sicherung läuft',
  'backups.begun': 'Sicherung gestartet.',
  'backups.place': 'Sicherungen werden in {place} gespeichert.',
  'backups.scheduled':
    'Nach Zeitplan: {schedule} (UTC). {keep, plural, one {Die neueste bleibt} other {Die neuesten # bleiben}} erhalten.',
  'backups.unscheduled': 'Automatische Sicherungen sind aus. BACKUP_SCHEDULE schaltet sie ein.',
  'backups.encrypted': 'Sicherungen sind mit der Passphrase aus BACKUP_PASSPHRASE verschlüsselt.',
  'backups.plain':
    'Sicherungen sind nicht verschlüsselt. Die Schlüssel der Installation sind nicht enthalten; bewahre sie getrennt auf (secrets.json oder deine Einstellungen).',
  'backups.list': 'Vorhandene Sicherungen',
  'backups.listText': 'Zum Wiederherstellen dient der Verwaltungsbefehl „restore“ in einer leeren Installation.',
  'backups.empty': 'Noch keine Sicherungen',
  'backups.emptyText': 'Erstelle jetzt die erste. Währenddessen können alle weiterarbeiten.',
  'backups.cause.command': 'Von der Befehlszeile',
  'backups.cause.schedule': 'Nach Zeitplan',
  'backups.cause.page': 'Von dieser Seite',
  'backups.state.running': 'Läuft',
  'backups.state.done': 'Fertig',
  'backups.state.failed': 'Fehlgeschlagen',
  'backups.state.lost': 'Abgebrochen',
  'backups.lost': 'Die Sicherung wurde unterbrochen. Starte eine neue.',
  'backups.progress': '{rows, number} Zeilen, {files, plural, one {# Datei} other {# Dateien}}',
};

import type { texts as english } from '../en/changes.ts';

/** Texts of what an answer changed, in German. */
export const texts: Record<keyof typeof english, string> = {
  'changes.undo': 'Antwort rückgängig machen',
  'changes.redo': 'Wiederherstellen',
  'changes.undoFile': '{path} rückgängig machen',
  'changes.redoFile': '{path} wiederherstellen',
  'changes.added': 'Neu',
  'changes.modified': 'Geändert',
  'changes.deleted': 'Gelöscht',
  'changes.count': '{count, plural, one {# Datei} other {# Dateien}}',
  'changes.undone': 'Rückgängig gemacht',
  'changes.since': 'Seitdem geändert',
  'changes.mixed': 'Diese Datei hat vielleicht gleichzeitig noch jemand geändert.',
  'changes.noneTitle': 'Keine Dateien geändert',
  'changes.noneText': 'Diese Antwort hat im Arbeitsbereich keine Dateien verändert.',
  'changes.more': 'Nur die ersten Dateien sind aufgeführt. Rückgängig gemacht werden alle.',
  'changes.left': 'Nicht durchgesehen, weil es zu viele Dateien sind oder sie sich nicht lesen lassen: {paths}',
  'changes.sideBySide': 'Nebeneinander',
  'changes.inLine': 'Untereinander',
  'changes.before': 'Vorher',
  'changes.after': 'Nachher',
  'changes.notKept': 'Diese Datei war zu groß, um sie aufzubewahren. Sie lässt sich weder zeigen noch zurückholen.',
  'changes.binary': 'Diese Datei ist kein Text. Die Änderung lässt sich nicht zeigen.',
  'changes.tooLong': 'Diese Datei ist zu lang, um die Änderung zu zeigen.',
  'changes.firstLines': 'Nur die ersten {count, number} Zeilen werden angezeigt.',
  'changes.sameText': 'Der Inhalt ist gleich, die Zugriffsrechte haben sich geändert.',
  'changes.link': 'Verweis auf {target}',
  'changes.folder': 'Ordner',
  'changes.same': '{count, plural, one {# unveränderte Zeile} other {# unveränderte Zeilen}}',
  'changes.forceTitle': 'Diese Dateien wurden seitdem geändert',
  'changes.forceText':
    'Ihr jetziger Inhalt wird ersetzt. Mit dem umgekehrten Schritt bekommst du ihn zurück. Dateien: {paths}',
  'changes.force': 'Trotzdem fortfahren',
  'changes.failed': 'Die Dateien ließen sich nicht ändern',
  'changes.skipped':
    '{count, plural, one {# Datei wurde nicht angetastet} other {# Dateien wurden nicht angetastet}}: {paths}',
  'changes.takeBackTitle': 'Auch die Dateien zurücknehmen?',
  'changes.takeBackText':
    'Was du ersetzt, hat im Arbeitsbereich {count, plural, one {# Datei} other {# Dateien}} geändert: {paths}. Bei der bisherigen Version kannst du das später wiederherstellen.',
  'changes.takeBackWait': 'Geänderte Dateien im Arbeitsbereich werden gesucht …',
  'changes.takeBackUnknown':
    'Was du ersetzt, hat vielleicht Dateien im Arbeitsbereich geändert. Das ließ sich nicht prüfen.',
  'changes.takeBack': '{count, plural, =0 {Zurücknehmen} one {# Datei zurücknehmen} other {# Dateien zurücknehmen}}',
  'changes.keepFiles': 'Dateien behalten',
};

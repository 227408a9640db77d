import type { texts as english } from '../en/rules.ts';

export const texts: Record<keyof typeof english, string> = {
  'rules.title': 'Was Modelle ohne Rückfrage dürfen',
  'rules.text':
    'Für die Werkzeuge deines Arbeitsbereichs, in allen deinen Unterhaltungen. Eine Unterhaltung kann eigene Regeln haben.',
  'rules.preset': 'Wie Modelle arbeiten',
  'rules.preset.ask': 'Erst fragen',
  'rules.preset.auto': 'Automatisch',
  'rules.preset.read-only': 'Nur lesen',
  'rules.hint.ask':
    'Lesen ist erlaubt. Bevor das Modell schreibt, veröffentlicht oder einen Befehl ausführt, der etwas ändern könnte, fragt es dich.',
  'rules.hint.auto': 'Werkzeuge laufen ohne Rückfrage, wenn keine Regel unten etwas anderes sagt.',
  'rules.hint.read-only':
    'Nichts wird geschrieben, und nur lesende Befehle werden ausgeführt. Gut zum Planen. Regeln ändern daran nichts.',
  'rules.list': 'Regeln',
  'rules.listHint':
    'Verbote haben Vorrang. Sonst gilt die genaueste Regel. In einem Befehl steht * für beliebigen Text: git push *',
  'rules.none': 'Noch keine Regeln.',
  'rules.add': 'Regel hinzufügen',
  'rules.remove': 'Regel {number} entfernen',
  'rules.policyOf': 'Aktion von Regel {number}',
  'rules.policy.allow': 'Erlauben',
  'rules.policy.ask': 'Fragen',
  'rules.policy.deny': 'Verbieten',
  'rules.toolOf': 'Werkzeug von Regel {number}',
  'rules.bash': 'Befehle',
  'rules.patternOf': 'Befehle von Regel {number}',
  'rules.everyCommand': 'Jeder Befehl',
  'rules.full': 'Es sind keine weiteren Regeln möglich. Entferne zuerst eine.',
  'rules.long': 'Zusammen sind die Regeln zu lang. Entferne oder kürze einige.',
  'rules.here': 'Werkzeuge in dieser Unterhaltung',
  'rules.asMine': 'Wie in meinen Einstellungen',
  'rules.programModels': 'Programme dürfen meine Modelle nutzen',
  'rules.programModelsHint':
    'Programme in deinem Arbeitsbereich können deine Modelle aufrufen. Diese Aufrufe zählen als deine Nutzung.',
  'rules.saved': 'Regeln gespeichert',
};

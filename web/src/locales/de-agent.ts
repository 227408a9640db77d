import type { texts as english } from './en-agent.ts';

/** Texts of plans and questions, in German. */
export const texts: Record<keyof typeof english, string> = {
  'plan.label': 'Plan',
  'plan.progress': '{done, number} von {count, number} erledigt',
  'plan.pending': 'Offen',
  'plan.in_progress': 'In Arbeit',
  'plan.completed': 'Erledigt',
  'plan.cancelled': 'Entfällt',
  'question.title': '{count, plural, one {Eine Frage an dich} other {Fragen an dich}}',
  'question.several': 'Wähle alles, was zutrifft',
  'question.own': 'In eigenen Worten',
  'question.send': 'Antworten',
  'question.skip': 'Überspringen',
  'question.sending': 'Wird gesendet …',
  'question.elsewhere': 'Anderswo beantwortet oder nicht mehr nötig.',
  'question.ended': 'Die Antwort endete, bevor diese Fragen beantwortet waren.',
  'question.none': 'Keine Antwort',
};

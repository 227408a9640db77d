import type { texts as english } from '../../en/chat/diagram.ts';

/** Texts of diagrams, in German. A missing or surplus id does not compile. */
export const texts: Record<keyof typeof english, string> = {
  'diagram.drawing': 'Das Diagramm wird gezeichnet …',
  'diagram.name': 'Diagramm',
  'diagram.titled': 'Diagramm: {title}',
  'diagram.broken': 'Dieser Code lässt sich nicht als Diagramm zeichnen.',
  'diagram.tooLarge': 'Dieses Diagramm ist zu groß zum Zeichnen.',
  'diagram.unavailable': 'Das Zeichnen hat zu lange gedauert. Versuche es erneut.',
};

/** Texts of diagrams in answers. ICU MessageFormat, ids `diagram.<what>`. */
export const texts = {
  'diagram.drawing': 'Drawing the diagram…',
  'diagram.name': 'Diagram',
  'diagram.titled': 'Diagram: {title}',
  'diagram.broken': 'This code can’t be drawn as a diagram.',
  'diagram.tooLarge': 'This diagram is too large to draw.',
  'diagram.unavailable': 'The diagram took too long to draw. Try again.',
} as const;

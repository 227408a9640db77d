/** Texts of diagrams in answers. ICU MessageFormat, ids `diagram.<what>`. */
export const texts = {
  'diagram.drawing': 'Drawing the diagram…',
  'diagram.name': 'Diagram',
  'diagram.titled': 'Diagram: {title}',
  'diagram.broken': 'This code cannot be drawn as a diagram.',
  'diagram.tooLarge': 'This diagram is too large to be drawn.',
  'diagram.unavailable': 'The diagram could not be drawn in time. Try again.',
} as const;

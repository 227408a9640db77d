/** Texts of the field that chooses people. ICU MessageFormat, ids `people.<what>`. */
export const texts = {
  'people.search': 'Name or e-mail address',
  'people.hint': 'You find people in your projects, and everyone else by their complete e-mail address.',
  'people.found': 'People found',
  'people.chosen': 'Chosen people',
  'people.remove': 'Remove {name}',
  'people.noHits': 'Nobody matches “{query}”.',
  'people.none': 'Nobody matches “{query}”. Type the complete e-mail address of someone you share no project with.',
} as const;

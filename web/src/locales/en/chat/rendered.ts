/** Texts around pages that models make. ICU MessageFormat, ids `rendered.<what>`. */
export const texts = {
  'rendered.title': '{name}, running',
  'rendered.again': 'Run again',
  'rendered.full': 'Full screen',
  'rendered.faults': 'The page reports errors',
  'rendered.fix': 'Ask the model to fix it',
  'rendered.tooLarge': 'Too large to run here. Download the file to open it.',
  'rendered.preview': 'Preview',
  'rendered.source': 'Source',
  'rendered.fixRequest': 'When I open {name}, these errors appear. Please fix them and publish the file again.',
  'rendered.fixBlock': 'When I run this {name} code, these errors appear. Please fix them.',
  'rendered.fixFile': 'When I open {name}, these errors appear. Please fix them.',
} as const;

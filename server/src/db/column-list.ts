/**
 * A statement's columns as text: one expression for each property of its row, so that a forgotten one does not compile.
 */
export function columnList<Row extends object>(columns: { readonly [Name in keyof Row & string]-?: string }): string {
  return Object.entries<string>(columns)
    .map(([name, expression]) => `${expression} as "${name}"`)
    .join(', ');
}

/**
 * A statement's columns as text: one expression for each property of its row, so that a forgotten one does not compile.
 */
export function columnList<Row extends object>(columns: { readonly [Name in keyof Row & string]-?: string }): string {
  return Object.entries<string>(columns)
    .map(([name, expression]) => `${expression} as "${name}"`)
    .join(', ');
}

/** Column of a field: `projectId` is stored in `project_id`. */
export type ColumnOf<Field extends string> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnOf<Rest>}`
  : '';

export function columnOf(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Field of a column: the opposite of `ColumnOf`. */
export type FieldOf<Column extends string> = Column extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<FieldOf<Rest>>}`
  : Column;

export function fieldOf(column: string): string {
  return column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Columns of the fields of a record in table `alias`. A computed field has an expression instead. */
export function fieldList<Field extends string>(
  fields: readonly Field[],
  alias: string,
  computed: { readonly [Name in Field]?: string },
): string {
  return fields.map((field) => `${computed[field] ?? `${alias}.${columnOf(field)}`} as "${field}"`).join(', ');
}

import type { ColumnType } from 'kysely';
import type { ColumnOf } from './column-list.ts';

/** How columns are read and written. */

export type CreatedAt = ColumnType<Date, Date | undefined, never>;
export type UpdatedAt = ColumnType<Date, Date | undefined, Date>;
export type Flag = ColumnType<boolean, boolean | undefined, boolean>;
export type Sequence = ColumnType<number, never, never>;
/** jsonb: read parsed, written as JSON text. */
export type Json<T> = ColumnType<T, string, string>;
/** jsonb with a default. */
export type WithDefault<T> = ColumnType<T, string | undefined, string>;
export type NullableJson<T> = ColumnType<T | null, string | null | undefined, string | null>;

/** Columns of the stored fields of a record of the contract, by the type of each: objects and arrays are jsonb. */
export type ColumnsOf<Record> = {
  [Field in keyof Record & string as ColumnOf<Field>]: [Record[Field]] extends [boolean]
    ? Flag
    : [Record[Field]] extends [string | number | null]
      ? Record[Field]
      : null extends Record[Field]
        ? NullableJson<NonNullable<Record[Field]>>
        : WithDefault<Record[Field]>;
};

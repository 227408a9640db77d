import type { ColumnType } from 'kysely';

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

/** Types of columns that tables share: what is read, what an insert takes, what an update takes. */
import type { ColumnType } from "kysely"

/** The catalog sets it to the present where an insert does not say. */
export type Timestamp = ColumnType<Date, Date | undefined, Date>
export type RequiredTimestamp = ColumnType<Date, Date, Date>
export type NullableTimestamp = ColumnType<Date | null, Date | null | undefined, Date | null>
/** Stored as `json` (text kept as written); written as a JSON string, read parsed. */
export type Json<T> = ColumnType<T, string, string>

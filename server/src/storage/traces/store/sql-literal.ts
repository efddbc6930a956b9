/**
 * Puts parameters into a statement as literals. chDB binds parameters for one query of the whole
 * process at a time, which would make every read wait for the slowest; a ClickHouse server gets the
 * placeholders as they are.
 */
import type { TraceParameter, TraceParameters } from "./trace-store.ts"

const placeholder = /\{(\w+):([\w(), ']+)\}/g

/** @throws {Error} when a placeholder has no parameter. */
export function inlineParameters(sql: string, parameters: TraceParameters): string {
  return sql.replaceAll(placeholder, (_, name: string, type: string) => {
    const value = parameters[name]
    if (value === undefined) throw new Error(`no value for the placeholder ${name}`)
    return `cast(${sqlLiteral(value)}, '${type.replaceAll("'", "\\'")}')`
  })
}

/** A ClickHouse literal; text of any kind stays inside its quotes. */
export function sqlLiteral(value: TraceParameter): string {
  if (value === null) return "NULL"
  if (typeof value === "string") return `'${value.replaceAll(/[\\'\0]/g, (character) => escapes[character] ?? "")}'`
  if (typeof value === "number") return finite(value)
  // As a bare literal, an integer past 64 bits becomes a double.
  if (typeof value === "bigint") return `'${value}'`
  if (typeof value === "object") return `[${value.map(sqlLiteral).join(",")}]`
  return String(value)
}

const escapes: Record<string, string> = { "\\": "\\\\", "'": "\\'", "\0": "\\0" }

function finite(value: number): string {
  if (Number.isNaN(value)) return "nan"
  return Number.isFinite(value) ? String(value) : `${value < 0 ? "-" : ""}inf`
}

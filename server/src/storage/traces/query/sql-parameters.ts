/** Values of one statement, each under a placeholder of its own. */
import type { TraceParameter, TraceParameters } from "../store/trace-store.ts"

export class SqlParameters {
  readonly #values: Record<string, TraceParameter> = {}
  readonly #prefix: string
  #count = 0

  /** Two sets for one statement need different prefixes. */
  constructor(prefix = "p") {
    this.#prefix = prefix
  }

  /** The placeholder that stands for `value` in the statement; `type` is ClickHouse's. */
  bind(value: TraceParameter, type: string): string {
    const name = `${this.#prefix}${this.#count++}`
    this.#values[name] = value
    return `{${name}:${type}}`
  }

  get values(): TraceParameters {
    return this.#values
  }
}

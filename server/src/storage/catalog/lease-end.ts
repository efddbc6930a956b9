/** The SQL for the time at which a lease ends that begins now. */
import { type RawBuilder, sql } from "kysely"

export function leaseEnd(seconds: number): RawBuilder<Date> {
  return sql<Date>`now() + make_interval(secs => ${seconds})`
}

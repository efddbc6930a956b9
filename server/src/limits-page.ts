/** The page of the guide that lists every limit; `scripts/generate-pages.ts` writes it. */
import { environmentName, type Limit, limitList, type LimitUnit } from "./limits.ts"

export function limitsPage(): string {
  const rows = Object.entries<Limit>(limitList).map(
    ([name, limit]) =>
      `| \`${environmentName(name)}\` | ${formatted(limit.default, limit.unit)} | ${limit.meaning} | ${limit.answer} |`,
  )
  return [
    "# Limits",
    "",
    "Printed from `server/src/limits.ts`; change it there.",
    "",
    "Every limit is set by an environment variable when the server starts. Its value is a plain whole number above 0: bytes,",
    "milliseconds, days (at most 36,500) or a count. Milliseconds are at most 2,147,483,647, but for those of sessions. A variable",
    "that names no limit stops the start, and so does a value that cannot be. An answer with status 429 or 503 carries",
    "`Retry-After` (`/v1/messages` says 529 where others say that something is overloaded). Send the request again: what it",
    "had done before it was refused is not done twice.",
    "",
    "Queries, inserts, exports and statements of the catalog wait in queues in which teams take turns, then the users of a",
    "team, so that what one user sends does not hold up the others. What a client that has left was waiting for is dropped,",
    "or stopped where it only reads. `GET /metrics` shows the queues.",
    "",
    "| Variable | Default | What it bounds | Answer |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n")
}

const timeUnits = [
  ["days", 24 * 3600 * 1000],
  ["h", 3600 * 1000],
  ["s", 1000],
] as const

function formatTime(value: number): string {
  const [name, size] = timeUnits.find(([, unit]) => value % unit === 0) ?? ["ms", 1]
  return `${value / size} ${name}`
}

function formatted(value: number, unit: LimitUnit): string {
  if (unit === "milliseconds") return formatTime(value)
  if (unit === "bytes") {
    if (value % 1024 ** 3 === 0) return `${value / 1024 ** 3} GiB`
    if (value % 1024 ** 2 === 0) return `${value / 1024 ** 2} MiB`
    if (value % 1024 === 0) return `${value / 1024} KiB`
    return `${value} bytes`
  }
  return value.toLocaleString("en")
}

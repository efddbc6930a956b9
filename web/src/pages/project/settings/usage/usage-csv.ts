/** The usage ledger as a table for other programs: a line for each day, project, person, key and model. */
import type { UsagePage } from "@heddle/server/wire/inference/usage.ts"

const columns = [
  "day",
  "project",
  "user",
  "api_key",
  "api_key_id",
  "model",
  "requests",
  "input_tokens",
  "cached_tokens",
  "output_tokens",
]

interface Names {
  user: (id: string) => string
  key: (id: string) => string
}

/** Numbers and days stay as programs write them, whatever the reader's language. */
export function usageCsv({ data }: Pick<UsagePage, "data">, names: Names): string {
  const lines = data.flatMap(({ start_time: start, results }) =>
    results.map((one) => {
      const [project, user, key] = [one.project_id ?? "", one.user_id ?? "", one.api_key_id ?? ""]
      return [
        new Date(start * 1000).toISOString().slice(0, 10),
        project,
        names.user(user),
        names.key(key),
        key,
        one.model ?? "",
        one.num_model_requests,
        one.input_tokens,
        one.input_cached_tokens,
        one.output_tokens,
      ]
    }),
  )
  return [columns, ...lines].map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n"
}

function cell(value: string | number): string {
  if (typeof value === "number") return `${value}`
  // A spreadsheet would work out what begins so.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

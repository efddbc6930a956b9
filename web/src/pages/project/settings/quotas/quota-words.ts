/** Quotas as a person reads them, and writes them. */
import type { QuotaName } from "@heddle/server/wire/platform/quota.ts"
import { formatExact } from "../../../../format/numbers.ts"
import { formatBytes } from "../../../../format/sizes.ts"

interface QuotaWords {
  name: string
  note: string
  /** Unit of the typed number. */
  unit: string
  /** So many of what the server counts are one of the unit. */
  ofUnit: number
}

export const quotaWords: Record<QuotaName, QuotaWords> = {
  stored_bytes: {
    name: "Stored",
    note: "calls, feedback, tables, objects, files, training data, checkpoints",
    unit: "GB",
    ofUnit: 1e9,
  },
  models: { name: "Models", note: "that can be trained", unit: "models", ofUnit: 1 },
  projects: { name: "Projects", note: "of the team", unit: "projects", ofUnit: 1 },
  open_jobs: { name: "Open jobs", note: "training, scoring, evaluations", unit: "jobs", ofUnit: 1 },
  api_keys: { name: "API keys", note: "of users who have the team as their own", unit: "keys", ofUnit: 1 },
  requests_per_minute: {
    name: "Requests a minute",
    note: "of each key; here of this browser’s",
    unit: "requests",
    ofUnit: 1,
  },
}

export function formatQuota(name: QuotaName, value: number): string {
  return name === "stored_bytes" ? formatBytes(value) : formatExact(value)
}

/** The typed number in the server's unit, or a sentence if it is not valid. */
export function readQuota(name: QuotaName, typed: string): number | string {
  const { unit, ofUnit } = quotaWords[name]
  const least = name === "requests_per_minute" ? 1 : 0
  const value = Number(typed) * ofUnit
  if (typed.trim() === "" || !Number.isFinite(value)) return `A number of ${unit}, such as 100.`
  if (ofUnit === 1 && !Number.isInteger(value)) return `A whole number of ${unit}.`
  if (value < least) return `At least ${least}.`
  if (value > Number.MAX_SAFE_INTEGER) return `At most ${Math.floor(Number.MAX_SAFE_INTEGER / ofUnit)} ${unit}.`
  return Math.round(value)
}

/** The use of a quota, if it is close to the limit. */
export function quotaState(used: number, limit: number): "full" | "nearly full" | null {
  if (used >= limit) return "full"
  return used >= limit * 0.9 ? "nearly full" : null
}

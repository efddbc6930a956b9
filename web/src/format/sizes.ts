/** Bytes, decimal as disks count them: "66 MB". */
import { type Locale, withUnit } from "./numbers.ts"

const units = ["B", "KB", "MB", "GB", "TB", "PB"]

export function formatBytes(bytes: number, locale?: Locale): string {
  return withUnit(bytes, 1000, units, { maximumSignificantDigits: 3 }, locale)
}

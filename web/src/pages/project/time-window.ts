/** Ranges of time in buckets whose edges do not move with the clock, so that what was read can be kept. */

/** The edge of the bucket that holds a time; all in seconds. */
export function bucketStart(seconds: number, bucketSeconds: number): number {
  return Math.floor(seconds / bucketSeconds) * bucketSeconds
}

export const windows = {
  "24h": { name: "last 24 hours", seconds: 24 * 3600, bucketSeconds: 1200, bucketName: "20 min", usageWidth: "1h" },
  "7d": { name: "last 7 days", seconds: 7 * 24 * 3600, bucketSeconds: 3 * 3600, bucketName: "3 h", usageWidth: "1h" },
  "30d": {
    name: "last 30 days",
    seconds: 30 * 24 * 3600,
    bucketSeconds: 12 * 3600,
    bucketName: "12 h",
    usageWidth: "1d",
  },
} as const

/** Buckets of the usage ledger by their width: seconds of each, and how many of them the API answers with at most. */
const ledger = { "1h": { seconds: 3600, most: 168 }, "1d": { seconds: 24 * 3600, most: 31 } } as const

export type WindowName = keyof typeof windows

/** Of the control that chooses one. */
export const windowSegments: readonly { value: WindowName; label: string }[] = [
  { value: "24h", label: "24 h" },
  { value: "7d", label: "7 days" },
  { value: "30d", label: "30 days" },
]

/** Where a window begins now, in seconds since 1970. */
export function windowStart(name: WindowName, now: number): number {
  const { seconds, bucketSeconds } = windows[name]
  return bucketStart(now / 1000, bucketSeconds) - seconds + bucketSeconds
}

/** The buckets of the usage ledger that reach over a window: the first is whole, the last is that of now. */
export function usageRange(name: WindowName, now: number) {
  const { seconds, usageWidth } = windows[name]
  const { seconds: width, most } = ledger[usageWidth]
  return {
    start_time: bucketStart(windowStart(name, now), width),
    bucket_width: usageWidth,
    limit: Math.min(Math.ceil(seconds / width) + 1, most),
  }
}

/** Ids in rows: enough to tell them apart; the whole one is copied. */
const longest = 14

/** "019aa2f1…c04e" */
export function shortId(id: string): string {
  return id.length <= longest ? id : `${id.slice(0, 8)}…${id.slice(-4)}`
}

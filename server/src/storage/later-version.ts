/** For a store that a later version has brought up to date: this one does not know its tables. */
export function ofLaterVersion(store: string, found: string): Error {
  return new Error(
    `the ${store} was written by a later version of Heddle (${found}). Start that version, ` +
      "or put a backup from before the upgrade in its place",
  )
}

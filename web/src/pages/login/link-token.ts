/**
 * What a link to this page carries behind its #: the token of a sign-in link, `#token=…`, or an invitation,
 * `#invitation=…`. It is taken out of the address and of the history. null: there is none.
 */
export function takeFromLink(name: "token" | "invitation"): string | null {
  const value = new URLSearchParams(location.hash.slice(1)).get(name)
  if (value !== null) history.replaceState(history.state, "", location.pathname + location.search)
  return value
}

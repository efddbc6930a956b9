/** The token of a sign-in link, `#token=…`; it is taken out of the address and of the history. null: there is none. */
export function takeToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("token")
  if (token !== null) history.replaceState(history.state, "", location.pathname + location.search)
  return token
}

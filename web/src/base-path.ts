/** Where the server stands: `/`, or a path such as `/heddle/` behind a proxy. The server writes it into the page's `<base>`. */

/** Ends with a slash. */
export const basePath = new URL(document.baseURI).pathname

/** The address of an API path such as `/v1/session`. */
export function addressOf(path: string): string {
  return basePath + path.slice(1)
}

/** The server as clients outside of this page name it: no slash at its end. */
export const serverUrl = new URL(".", document.baseURI).href.replace(/\/$/, "")

/** A project within addresses and commands that are copied from a page: its name may hold blanks and marks of a shell. */

/** `entity/project` within an address, also one that stands in a shell without quotes. */
export function projectPath(id: string): string {
  return id.split("/").map(addressPart).join("/")
}

/** What `encodeURIComponent` leaves means something to shells. */
function addressPart(part: string): string {
  return encodeURIComponent(part).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** `entity/project` as a header names it, which carries no letters beyond ASCII. */
export function projectHeader(id: string): string {
  return /^[ -~]*$/.test(id) ? id : projectPath(id)
}

/** A text as one word of a shell. */
export function shellWord(text: string): string {
  return /^[\w./@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

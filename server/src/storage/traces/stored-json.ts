/**
 * JSON of a row for the store. Lone surrogates, which have no UTF-8, so that no text column can hold
 * one, become U+FFFD; payloads, which are stored as their JSON text, may hold them as escapes.
 */
export function storedJson(row: object): string {
  return JSON.stringify(row).replaceAll(loneSurrogate, "$1\\ufffd")
}

/** `JSON.stringify` escapes these and no other surrogate. */
const loneSurrogate = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g

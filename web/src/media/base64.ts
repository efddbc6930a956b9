/** The bytes of base64, in its usual letters or in those for addresses, as Python's clients send them. */

/** null: it is none. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    const letters = atob(usualLetters(base64))
    return Uint8Array.from(letters, (letter) => letter.charCodeAt(0))
  } catch {
    return null
  }
}

export function usualLetters(base64: string): string {
  return base64.replaceAll("-", "+").replaceAll("_", "/")
}

/** Of what it holds, without decoding it. */
export function byteCount(base64: string): number {
  const end = /=*\s*$/.exec(base64.slice(-8))?.index ?? 0
  return Math.floor(((Math.max(0, base64.length - 8) + end) * 3) / 4)
}

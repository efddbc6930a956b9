/**
 * Which key a shortcut means, and when a key is none. A pattern is what the key writes (`?`, `j`, `X` for ⇧x), a name
 * (`Escape`, `ArrowLeft`), two keys in a row (`g o`), or a chord with ⌘ or Ctrl (`mod+k`).
 */

export interface KeyPress {
  key: string
  metaKey: boolean
  ctrlKey: boolean
  altKey: boolean
  /** AltGr writes signs on many keyboards: it is no modifier of a shortcut. */
  isAltGraph: boolean
}

const chord = "mod+"

export function isChord(pattern: string): boolean {
  return pattern.startsWith(chord)
}

/** The keys of a pattern, one after the other. */
export function stepsOf(pattern: string): string[] {
  return pattern.split(" ")
}

export function pressIs(press: KeyPress, step: string): boolean {
  const isModified = (press.metaKey || press.ctrlKey) && !press.isAltGraph
  if (isChord(step)) return isModified && press.key.toLowerCase() === step.slice(chord.length).toLowerCase()
  // Alt with an arrow is the browser's way back.
  const isAlt = press.altKey && !press.isAltGraph
  return !isModified && !isAlt && press.key === step
}

const names: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  Enter: "↵",
  " ": "Space",
}

/** As the sheet and the buttons show it, a sign for each key. */
export function shownKeys(pattern: string, isApple: boolean): string[] {
  return stepsOf(pattern === " " ? "Space" : pattern).map((step) => {
    if (isChord(step)) {
      const key = step.slice(chord.length)
      return `${isApple ? "⌘" : "Ctrl "}${names[key] ?? key.toUpperCase()}`
    }
    if (/^[A-Z]$/.test(step)) return `⇧${step.toLowerCase()}`
    return names[step] ?? step
  })
}

/** Colours of the tokens as a canvas needs them: computed, for the theme that is shown. */

export type ColorToken =
  | `series-${0 | 1 | 2 | 3 | 4 | 5 | 6}`
  | "ink"
  | "ink-3"
  | "line"
  | "line-strong"
  | "accent"
  | "bad"

export function colorOf(token: ColorToken): string {
  const probe = document.createElement("i")
  probe.style.color = `var(--${token})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Labels of an axis, where its ticks are closer together than the labels tell apart. */

/** The label of a tick that looks like the one before is left out. */
export function withoutRepeats(labels: string[]): string[] {
  return labels.map((label, place) => (label === labels[place - 1] ? "" : label))
}

/** Where two ticks would look the same, the lowest has its label, and the others say how far above it they are. */
export function toldApart(ticks: number[], show: (value: number) => string): string[] {
  const labels = ticks.map(show)
  const [lowest] = ticks
  if (lowest === undefined || new Set(labels).size === labels.length) return labels
  return ticks.map((tick) => (tick === lowest ? show(tick) : `+${show(tick - lowest)}`))
}

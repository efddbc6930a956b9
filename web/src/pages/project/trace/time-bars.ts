/** Where a call lies in the window of time that is shown, in per cent of its width. */

export interface TimeWindow {
  /** Milliseconds from the begin of the trace. */
  from: number
  to: number
}

export interface TimeBar {
  left: number
  width: number
  side: "before" | "inside" | "after"
}

export function barOf(start: number, end: number, { from, to }: TimeWindow): TimeBar {
  const length = Math.max(to - from, 1e-3)
  if (end < from) return { left: 0, width: 0, side: "before" }
  if (start > to) return { left: 100, width: 0, side: "after" }
  const left = Math.max(0, ((start - from) / length) * 100)
  const right = Math.min(100, ((end - from) / length) * 100)
  return { left, width: Math.max(0, right - left), side: "inside" }
}

const fewest = 5
const minute = 60_000
/** From a second on, steps that divide a minute and an hour. */
const clockSteps = [1000, 2000, 5000, 10_000, 15_000, 30_000, minute, 2 * minute, 5 * minute, 10 * minute, 30 * minute]

/** Round times, about five. */
export function ticksOf({ from, to }: TimeWindow): number[] {
  const rough = (to - from) / fewest
  if (!(rough > 0)) return [0]
  const step = clockSteps.find((one) => one >= rough && rough > 500) ?? roundStep(rough)
  const first = Math.ceil(from / step) * step
  return Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, index) => first + index * step)
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  return ([1, 2, 5].find((one) => one * power >= rough) ?? 10) * power
}

/** The trace, or the part of it that the address names; ends that make no window are left out. */
export function windowOf(durationMs: number, from: number | undefined, to: number | undefined): TimeWindow {
  const whole = { from: 0, to: Math.max(durationMs, 1e-3) }
  if (from === undefined || to === undefined || !(to > from)) return whole
  return { from, to }
}

/** Around one call, with a little of what is beside it. */
export function windowAround(start: number, duration: number): TimeWindow {
  const margin = Math.max(duration * 0.05, 1e-2)
  return { from: start - margin, to: start + duration + margin }
}

/** How long a training job takes still, from how long its gradient steps took. */

export interface Pace {
  /** Mean of the newest steps since a server last took the job; null: fewer than two were done since. */
  secondsPerStep: number | null
  /** Since the newest of them. */
  secondsSinceStep: number
}

/** null: it is not known. Of the step that is under way at most the whole is taken for done. */
export function secondsLeft(expected: number | null, done: number, { secondsPerStep, secondsSinceStep }: Pace) {
  if (expected === null || secondsPerStep === null || secondsPerStep <= 0) return null
  const steps = Math.max(0, expected - done)
  const left = steps === 0 ? 0 : steps * secondsPerStep - Math.min(secondsSinceStep, secondsPerStep)
  return Math.round(Math.max(0, left) * 10) / 10
}

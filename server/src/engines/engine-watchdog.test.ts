import { expect, test } from "vitest"
import { EngineWatchdog } from "./engine-watchdog.ts"

const idle = { running: 0, waiting: 0, training: 0, loading: 0, progress: 7, resident_bytes: 0 }

/** Seconds of beats and ticks until the engine is called hung; null: it never was. */
function hungAfter(beat: (second: number) => typeof idle | null, seconds = 600): [number, string] | null {
  const watchdog = new EngineWatchdog({ silenceMs: 15_000, stallMs: 120_000 })
  for (let second = 1; second <= seconds; second++) {
    const sent = second % 2 === 0 ? beat(second) : null
    if (sent !== null) watchdog.heartbeat(sent)
    const wrong = watchdog.tick(1_000)
    if (wrong !== null) return [second, wrong]
  }
  return null
}

test("engine 5.2: a base model that loads for ten minutes is no hang while tensors are read", () => {
  expect(hungAfter((second) => ({ ...idle, loading: 1, progress: Math.floor(second / 100) }))).toBeNull()
})

test.each(["running", "waiting", "training", "loading"])(
  "engine 5.2: two minutes of %s without progress are a hang",
  (work) => {
    const hung = hungAfter(() => ({ ...idle, [work]: 1 }))
    expect(hung).toEqual([122, "the engine made no progress for 121 s with work queued"])
  },
)

test("engine 5.2: an engine with nothing to do makes no progress", () => {
  expect(hungAfter(() => idle)).toBeNull()
})

test("engine 5.2: an engine that is silent for a quarter of a minute hangs, whatever it does", () => {
  expect(hungAfter((second) => (second > 60 ? null : { ...idle, running: 1, progress: second }))).toEqual([
    75,
    "the engine sent no heartbeat for 16 s",
  ])
})

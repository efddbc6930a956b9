/** What `GET /metrics` says of each engine, as of its last heartbeat. */
import { Gauge, type Registry } from "prom-client"
import type { Heartbeat } from "../wire/engine/frames.ts"

export interface EngineFigures {
  name: string
  isReady: boolean
  heartbeat: Heartbeat | null
}

const ofHeartbeat = {
  chats_running: ["running", "Choices that the engine generates, of this server and others."],
  chats_waiting: ["waiting", "Choices that wait for a place in the engine's batch."],
  jobs: ["training", "Training jobs in progress on the engine."],
  resident_bytes: ["resident_bytes", "Memory of the engine's process."],
} as const

export function addEngineMetrics(registry: Registry, engines: () => EngineFigures[]): void {
  const gauge = (name: string, help: string, labels: string[], set: (own: Gauge) => void) =>
    new Gauge({
      name: `heddle_engine_${name}`,
      help,
      labelNames: ["engine", ...labels],
      registers: [registry],
      collect() {
        this.reset()
        set(this)
      },
    })
  gauge("up", "Whether the engine takes calls.", [], (own) => {
    for (const { name: engine, isReady } of engines()) own.set({ engine }, Number(isReady))
  })
  for (const [name, [field, help]] of Object.entries(ofHeartbeat)) {
    gauge(name, help, [], (own) => {
      for (const { name: engine, heartbeat } of engines()) if (heartbeat !== null) own.set({ engine }, heartbeat[field])
    })
  }
  gauge("base_loaded", "Base models whose weights the engine has in memory.", ["base"], (own) => {
    for (const { name: engine, heartbeat } of engines())
      for (const base of heartbeat?.bases ?? []) own.set({ engine, base }, 1)
  })
}

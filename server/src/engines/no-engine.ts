/** `HEDDLE_ENGINE=none`: everything but chat and jobs works. */
import type { EngineMethod } from "../wire/engine/methods.ts"
import { type Engine, type EngineCall, EngineFailure } from "./engine.ts"
import { failedCall } from "./engine-call.ts"

const reason =
  "this server runs without an engine (HEDDLE_ENGINE=none); start it with HEDDLE_ENGINE=process to chat and train"

export const noEngine: Engine = {
  call: <M extends EngineMethod>(): EngineCall<M> => failedCall(new EngineFailure("unavailable", reason)),
  ready: () => Promise.reject(new EngineFailure("unavailable", reason)),
  status: () => ({ state: "none", hello: null, heartbeat: null, reason, awayMs: null }),
  members: () => [],
  jobPlaces: () => ({ engines: 0, waiting: 0 }),
  close: () => Promise.resolve(),
}

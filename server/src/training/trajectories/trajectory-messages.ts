/** Messages between the server's thread and the reading thread. Concurrent bodies are told apart by `id`. */
import type { ValidationIssue } from "../../errors.ts"

/** `engine`: lines of `specTrajectory`. `log`: lines `{group, index, trajectory}` with the trajectory as it came. */
export type TrajectoryFileFormat = "engine" | "log"

export type ToReader =
  | { kind: "open"; id: number; file: string; format: TrajectoryFileFormat }
  | { kind: "chunk"; id: number; bytes: Uint8Array }
  | { kind: "end"; id: number }
  /** The body will not be completed; its file is removed. */
  | { kind: "abort"; id: number }
  | { kind: "ping"; id: number }

export interface ReadTrajectories {
  fields: Record<string, unknown>
  issues: ValidationIssue[]
  /** Keys without `<split>/`. */
  metrics: Record<string, number>
  /** Names of trained models in captured calls. */
  capturedModels: string[]
  /** Fields of trajectories that are not known here and hold something, with the number of trajectories. */
  unknownFields: Record<string, number>
  groups: number
  trajectories: number
  sha256: string
  sizeBytes: number
}

export type FromReader =
  /** That many bytes of the body have been taken in; of these, `held` wait for the rest of their trajectory. */
  | { kind: "taken"; id: number; bytes: number; held: number }
  | { kind: "done"; id: number; result: ReadTrajectories }
  | { kind: "refused"; id: number; reason: "syntax" | "too_large"; message: string }
  | { kind: "failed"; id: number; message: string; code: string | null }
  /** After `abort`: nothing is left of the body. */
  | { kind: "dropped"; id: number }
  | { kind: "pong"; id: number }

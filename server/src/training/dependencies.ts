/** Objects that `app.ts` hands to the training area. */
import type { BaseRef } from "../wire/engine/base.ts"
import type { Health } from "../wire/training/health.ts"
import type { TokenLedger } from "../gateway/token-ledger.ts"
import type { TraceStore } from "../storage/traces/store/trace-store.ts"
import type { ThreadPool } from "../threads/thread-pool.ts"
import type { BaseModels } from "./base-models.ts"
import type { CheckpointExports } from "./exports/checkpoint-exports.ts"
import type { AreaSources } from "./from/row-source.ts"
import type { SftSources } from "./sft/sft-data.ts"
import type { TrajectoryReader } from "./trajectories/trajectory-reader.ts"

export interface TrainingLimits {
  /** Largest body of an RL job or a log, decoded. */
  maximumBodyBytes: number
  /** Largest tar file of an adapter. */
  maximumImportBytes: number
}

export interface TrainingDependencies extends SftSources {
  dataDir: string
  baseModels: BaseModels
  /** Call it after a job was stored or a model deleted: the scheduler looks at its queue now. */
  wakeScheduler: () => void
  /** Removes a checkpoint's files (step null: all of the model's) now, or after the last request that uses them. */
  afterUse: (modelId: string, step: number | null, remove: () => Promise<void>) => Promise<void>
  /** Keeps a checkpoint's files, should it be deleted, until the returned function is called. */
  useCheckpoint: (modelId: string, step: number) => () => void
  exports: CheckpointExports
  /** Has the engine check an adapter and write it as a checkpoint's folder. @throws {HeddleError} */
  importAdapter: (params: {
    base: BaseRef
    archive: string
    any_base: boolean
    tenant: string
    output: { path: string }
  }) => Promise<{ size_bytes: number; manifest_sha256: string }>
  /** Tokens of the longest sequence that a base model trains on; null while the engine cannot tell. */
  maximumTokens: (base: BaseRef) => Promise<number | null>
  trajectories: TrajectoryReader
  limits: TrainingLimits
  traces: TraceStore
  /** Threads that turn calls into rows. */
  threads: ThreadPool
  ledger: TokenLedger
  /** Tokens of a dialogue as it is trained on; null: the engine cannot tell now. */
  countTokens: (
    base: BaseRef,
    row: { messages: { role: string }[]; tools?: Record<string, unknown>[] },
  ) => Promise<number | null>
  /** Sources of training data in other areas. */
  areaSources: AreaSources
  /** @throws {HeddleError} while a store on another machine does not answer. */
  checkHealth: () => Promise<Health>
  /** Why writes are refused or soon will be; null: there is room. */
  diskShortage: () => Promise<string | null>
  /** For each engine, what rejects with the reason while it cannot train. */
  engineChecks: () => (() => Promise<void>)[]
  /** @throws {HeddleError} `engine_unavailable` on a server without an engine, where a job would wait for ever. */
  requireEngine: () => void
}

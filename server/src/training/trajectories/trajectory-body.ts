/**
 * Reads a body with `trajectory_groups` (RL jobs and logs, training-api 2.1 and 2.4) trajectory by
 * trajectory, so that memory holds one of them and not the body.
 */
import type { z } from "zod"
import type { ValidationIssue } from "../../errors.ts"
import { validationError } from "../../http/validation.ts"
import type { CapturedRollout } from "../../wire/engine/train.ts"
import {
  groupFields,
  hasExchanges,
  type Trajectory,
  trajectory as trajectorySchema,
} from "../../wire/training/trajectory.ts"
import {
  type ContainerKind,
  type JsonPath,
  JsonSplitter,
  SplitError,
  type SplitHandler,
} from "../../json/json-splitter.ts"
import { capturedRollout } from "./captured/captured-rollout.ts"
import { ExchangeFault } from "./captured/exchange-fault.ts"
import { TrajectoryMetrics } from "./trajectory-metrics.ts"

/** One trajectory, or one unknown field, may be this large. */
const maximumValueBytes = 256 * 1024 * 1024
const maximumIssues = 50
/** One step may sample from many checkpoints, but not from so many. */
const maximumModels = 1000
const maximumUnknownFields = 20
/** Beside the groups; the largest is the configuration of a job, of some 30 settings. */
const readFields: ReadonlySet<string> = new Set(["model_id", "experimental_config", "split"])
const maximumFieldBytes = 1024 * 1024
/** Names of metrics of one body: each becomes a curve. */
const maximumMetrics = 10_000

export interface OneTrajectory {
  group: number
  index: number
  trajectory: Trajectory
  /** The rollout captured in its exchanges, or null if it has none. */
  captured: CapturedRollout | null
  /** Its JSON; only valid during the call. */
  bytes: Buffer
}

/** Gets each valid trajectory in order. */
export type TrajectorySink = (one: OneTrajectory) => void

export interface TrajectoryBody {
  /** Top-level fields but for `trajectory_groups`, as parsed; unknown ones are not kept. */
  fields: Record<string, unknown>
  /** Faults of the groups. If there are any, the sink has not had every trajectory. */
  issues: ValidationIssue[]
  metrics: TrajectoryMetrics
  /** Names of trained models in captured calls. */
  capturedModels: string[]
  /** Fields of trajectories that are not known here and hold something, with the number of trajectories. */
  unknownFields: Record<string, number>
}

export class TrajectoryBodyReader implements SplitHandler {
  readonly #sink: TrajectorySink
  readonly #splitter: JsonSplitter
  readonly #fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  readonly #issues: ValidationIssue[] = []
  readonly #metrics = new TrajectoryMetrics()
  readonly #capturedModels = new Set<string>()
  readonly #unknownFields = new Map<string, number>()
  #group: Record<string, unknown> = {}
  /** Bytes of the group's own fields, held until the group ends. */
  #groupBytes = 0
  #groupsSeen = false

  constructor(sink: TrajectorySink) {
    this.#sink = sink
    this.#splitter = new JsonSplitter(this, maximumValueBytes)
  }

  /** Bytes held of the incomplete value and of the group's fields. */
  get heldBytes(): number {
    return this.#splitter.heldBytes + this.#groupBytes
  }

  /** @throws {SplitError} the body is not JSON. */
  write(chunk: Buffer): void {
    this.#splitter.write(chunk)
  }

  /** @throws {SplitError} the body is not JSON. */
  end(): TrajectoryBody {
    this.#splitter.end()
    if (!this.#groupsSeen && this.#issues.length === 0) this.#fault(["trajectory_groups"], "Field required", "missing")
    return {
      fields: this.#fields,
      issues: this.#issues,
      metrics: this.#metrics,
      capturedModels: [...this.#capturedModels],
      unknownFields: Object.fromEntries(this.#unknownFields),
    }
  }

  enter(path: JsonPath, kind: ContainerKind): boolean {
    if (path.length === 0) return kind === "object"
    if (path[0] !== "trajectory_groups") return false
    if (path.length === 1) return kind === "array" && this.#firstGroups()
    if (path.length === 2) return kind === "object" && this.#beginGroup()
    return path.length === 3 && path[2] === "trajectories" && kind === "array" && this.#beginTrajectories(path)
  }

  value(path: JsonPath, bytes: Buffer): void {
    const parsed = this.#parse(path, bytes)
    if (parsed === undefined) return
    if (path.length === 0) this.#fault(path, "the body must be a JSON object", "invalid_type")
    else if (path.length === 4) this.#trajectory(path, parsed.value, bytes)
    else if (path.length === 3) this.#groupField(String(path[2]), parsed.value, bytes)
    else if (path[0] === "trajectory_groups") this.#wrongContainer(path)
    else this.#field(String(path[0]), parsed.value, bytes)
  }

  #groupField(name: string, value: unknown, { length }: Buffer): void {
    if (!Object.hasOwn(groupFields.shape, name) && name !== "trajectories") return
    this.#group[name] = value
    this.#groupBytes += length
  }

  /** @throws {SplitError} */
  #field(name: string, value: unknown, { length }: Buffer): void {
    if (!readFields.has(name)) return
    if (length > maximumFieldBytes) {
      throw new SplitError(
        "too_large",
        `the field "${name}" has ${length} bytes; at most ${maximumFieldBytes} are read`,
      )
    }
    this.#fields[name] = value
  }

  leave(path: JsonPath): void {
    if (path.length !== 2) return
    if ("trajectories" in this.#group && !Array.isArray(this.#group["trajectories"])) {
      this.#fault([...path, "trajectories"], "expected an array", "invalid_type")
    }
    const fields = groupFields.safeParse(this.#group, { reportInput: true })
    if (fields.success) this.#metrics.endGroup(fields.data)
    else this.#faults(path, fields.error.issues)
    this.#group = {}
    this.#groupBytes = 0
    this.#checkMetrics()
  }

  /** @throws {SplitError} */
  #checkMetrics(): void {
    if (this.#metrics.names <= maximumMetrics) return
    throw new SplitError(
      "too_large",
      `the metrics have more than ${maximumMetrics} names; name them alike in every trajectory`,
    )
  }

  #firstGroups(): boolean {
    if (this.#groupsSeen) this.#fault(["trajectory_groups"], "given twice", "value_error")
    this.#groupsSeen = true
    return true
  }

  #beginGroup(): boolean {
    this.#groupBytes = 0
    this.#group = Object.create(null) as Record<string, unknown>
    return true
  }

  #beginTrajectories(path: JsonPath): boolean {
    if ("trajectories" in this.#group) this.#fault(path, "given twice", "value_error")
    this.#group["trajectories"] = []
    return true
  }

  #wrongContainer(path: JsonPath): void {
    this.#groupsSeen = true
    this.#fault(path, path.length === 1 ? "expected an array" : "expected an object", "invalid_type")
  }

  #trajectory(path: JsonPath, value: unknown, bytes: Buffer): void {
    const result = trajectorySchema.safeParse(value, { reportInput: true })
    if (!result.success) return this.#faults(path, result.error.issues)
    const trajectory = result.data
    this.#noteUnknown(trajectory)
    const captured = this.#captured(path, trajectory)
    this.#metrics.trajectory(trajectory)
    this.#checkMetrics()
    if (this.#issues.length > 0) return
    this.#sink({ group: path[1] as number, index: path[3] as number, trajectory, captured, bytes })
  }

  #captured(path: JsonPath, trajectory: Trajectory): CapturedRollout | null {
    if (!hasExchanges(trajectory)) return null
    try {
      const captured = capturedRollout(trajectory.exchanges ?? {})
      for (const { model } of captured.generations) this.#capturedModels.add(model)
      if (this.#capturedModels.size <= maximumModels) return captured
      throw new ExchangeFault([], `the calls name more than ${maximumModels} models; send fewer trajectories at once`)
    } catch (error) {
      if (!(error instanceof ExchangeFault)) throw error
      this.#fault([...path, "exchanges", ...error.path], error.message, "value_error")
      return null
    }
  }

  #noteUnknown(trajectory: Trajectory): void {
    for (const [field, value] of Object.entries(trajectory)) {
      if (Object.hasOwn(trajectorySchema.shape, field) || value === null) continue
      const count = this.#unknownFields.get(field) ?? 0
      if (count > 0 || this.#unknownFields.size < maximumUnknownFields) this.#unknownFields.set(field, count + 1)
    }
  }

  #parse(path: JsonPath, bytes: Buffer): { value: unknown } | undefined {
    try {
      return { value: JSON.parse(bytes.toString("utf8")) as unknown }
    } catch (error) {
      const hint = "NaN and Infinity are not JSON; leave such values out"
      this.#fault(path, `not JSON: ${(error as Error).message} (${hint})`, "json_invalid")
      return undefined
    }
  }

  #faults(path: JsonPath, issues: readonly z.core.$ZodIssue[]): void {
    for (const { loc, msg, type } of validationError(issues, "").details.issues ?? [])
      this.#fault([...path, ...loc.slice(1)], msg, type)
  }

  #fault(path: JsonPath, msg: string, type: string): void {
    if (this.#issues.length < maximumIssues) this.#issues.push({ loc: ["body", ...path], msg, type })
  }
}

/**
 * Reads a body with `trajectory_groups` (RL jobs and logs, training-api 2.1 and 2.4) trajectory by
 * trajectory, so that memory holds one of them and not the body.
 */
import type { z } from "zod"
import type { ValidationIssue } from "../../errors.ts"
import { validationError } from "../../http/validation.ts"
import { groupFields, type Trajectory, trajectory as trajectorySchema } from "../../wire/training/trajectory.ts"
import { type ContainerKind, type JsonPath, JsonSplitter, type SplitHandler } from "../../json/json-splitter.ts"
import { TrajectoryMetrics } from "./trajectory-metrics.ts"

/** One trajectory, or one unknown field, may be this large. */
const maximumValueBytes = 256 * 1024 * 1024
const maximumIssues = 50

/** Gets each valid trajectory in order; `bytes` is its JSON and only valid during the call. */
export type TrajectorySink = (group: number, index: number, trajectory: Trajectory, bytes: Buffer) => void

export interface TrajectoryBody {
  /** Top-level fields but for `trajectory_groups`, as parsed. */
  fields: Record<string, unknown>
  /** What is wrong with the groups; when there is anything, the sink has not had every trajectory. */
  issues: ValidationIssue[]
  metrics: TrajectoryMetrics
}

export class TrajectoryBodyReader implements SplitHandler {
  readonly #sink: TrajectorySink
  readonly #splitter: JsonSplitter
  readonly #fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  readonly #issues: ValidationIssue[] = []
  readonly #metrics = new TrajectoryMetrics()
  #group: Record<string, unknown> = {}
  #groupsSeen = false

  constructor(sink: TrajectorySink) {
    this.#sink = sink
    this.#splitter = new JsonSplitter(this, maximumValueBytes)
  }

  /** Of the trajectory that is not whole yet. */
  get heldBytes(): number {
    return this.#splitter.heldBytes
  }

  /** @throws {SplitError} the body is not JSON. */
  write(chunk: Buffer): void {
    this.#splitter.write(chunk)
  }

  /** @throws {SplitError} the body is not JSON. */
  end(): TrajectoryBody {
    this.#splitter.end()
    if (!this.#groupsSeen && this.#issues.length === 0) this.#fault(["trajectory_groups"], "Field required", "missing")
    return { fields: this.#fields, issues: this.#issues, metrics: this.#metrics }
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
    else if (path.length === 3) this.#group[String(path[2])] = parsed.value
    else if (path[0] === "trajectory_groups") this.#wrongContainer(path)
    else this.#fields[String(path[0])] = parsed.value
  }

  leave(path: JsonPath): void {
    if (path.length !== 2) return
    if (!Array.isArray(this.#group["trajectories"])) {
      const given = "trajectories" in this.#group
      this.#fault(
        [...path, "trajectories"],
        given ? "expected an array" : "Field required",
        given ? "invalid_type" : "missing",
      )
    }
    const fields = groupFields.safeParse(this.#group, { reportInput: true })
    if (fields.success) this.#metrics.endGroup(fields.data)
    else this.#faults(path, fields.error.issues)
  }

  #firstGroups(): boolean {
    if (this.#groupsSeen) this.#fault(["trajectory_groups"], "given twice", "value_error")
    this.#groupsSeen = true
    return true
  }

  #beginGroup(): boolean {
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
    this.#metrics.trajectory(result.data)
    if (this.#issues.length === 0) this.#sink(path[1] as number, path[3] as number, result.data, bytes)
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

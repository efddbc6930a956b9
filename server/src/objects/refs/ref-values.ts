/**
 * What refs name: evaluation-store-objects 9. A path leads into a value, through the refs it meets,
 * and through tables to their rows. All refs advance together, so that a batch costs as many queries
 * as its longest path has things to look up.
 */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { findVersions, type ObjectVersionRecord } from "../../storage/catalog/objects/object-reads.ts"
import { rowPieces } from "../../storage/traces/table-rows.ts"
import { noLookups } from "../../threads/thread-task.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { withValues } from "../version-values.ts"
import { type ProjectAccess, existingProject } from "../../access/project-access.ts"
import { type PathEnd, refPathsTask } from "./ref-paths.ts"
import { type Ref, type RefStep, tryParseRef, versionNameOf } from "./refs.ts"

/** A ref whose value is a ref takes no step: a circle of such refs must end. */
const maximumHops = 32

/** Progress of reading one ref. `value` is JSON text, or null if nothing is there. */
type Walk =
  | { state: "object"; ref: Ref; isRequested: boolean }
  | { state: "row"; project: string; digest: string; steps: RefStep[] }
  | { state: "done"; value: string | null }

/**
 * The JSON texts that object and op refs name; null for what was deleted or is not on the path.
 * @throws {HeddleError} `refs_not_found`, `project_not_found` for what a ref of the request names; `payload_too_large`.
 */
export async function readRefs(
  dependencies: StoreDependencies,
  principal: Principal,
  refs: readonly Ref[],
  mostBytes = dependencies.limits.refs_value_bytes,
): Promise<(string | null)[]> {
  const reader = new RefReader(dependencies, principal, mostBytes)
  let walks: Walk[] = refs.map((ref) => ({ state: "object", ref, isRequested: true }))
  for (let hop = 0; hop < maximumHops && walks.some((walk) => walk.state !== "done"); hop++) {
    walks = await reader.advance(walks)
  }
  const values = walks.map((walk) => (walk.state === "done" ? walk.value : null))
  const bytes = values.reduce((sum, value) => sum + (value?.length ?? 0), 0)
  checkRefBytes(bytes, mostBytes)
  return values
}

/** @throws {HeddleError} `payload_too_large` */
export function checkRefBytes(bytes: number, mostBytes: number): void {
  if (bytes <= mostBytes) return
  throw new HeddleError(
    "payload_too_large",
    `the values that these refs lead to have more than ${mostBytes} bytes together; read fewer refs at once`,
  )
}

class RefReader {
  readonly #dependencies: StoreDependencies
  readonly #principal: Principal
  readonly #projects = new Map<string, ProjectAccess | null>()
  /** Values by project and name; null: deleted, or not there. */
  readonly #objects = new Map<string, string | null>()
  readonly #mostBytes: number
  #heldBytes = 0

  constructor(dependencies: StoreDependencies, principal: Principal, mostBytes: number) {
    this.#dependencies = dependencies
    this.#principal = principal
    this.#mostBytes = mostBytes
  }

  /** Looks up what all of them wait for, and follows each path as far as that leads. */
  async advance(walks: readonly Walk[]): Promise<Walk[]> {
    await this.#findProjects(walks)
    await this.#findObjects(walks)
    const rows = await this.#findRows(walks)
    const next = [...walks]
    for (const [key, waiting] of Map.groupBy(walks.entries(), ([, walk]) => valueKeyOf(walk))) {
      if (key === null) continue
      const value = this.#objects.get(key) ?? rows.get(key) ?? null
      const paths = waiting.map(([, walk]) => stepsLeft(walk))
      const ends = await this.#follow(value, paths)
      waiting.forEach(([at], index) => (next[at] = ends[index] as Walk))
    }
    return next
  }

  /** Takes steps into a value until they end, or a ref has to be looked up. */
  async #follow(value: string | null, paths: readonly RefStep[][]): Promise<Walk[]> {
    if (value === null || paths.every((steps) => steps.length === 0)) {
      return paths.map(() => ({ state: "done", value }))
    }
    const options = { bytes: value.length, answer: noLookups }
    const { ends } = await this.#dependencies.threads.run(refPathsTask, { value, paths }, options)
    return ends.map((end, index) => walkOf(value, end, paths[index] ?? []))
  }

  async #findProjects(walks: readonly Walk[]): Promise<void> {
    for (const walk of walks) {
      if (walk.state === "done") continue
      const name = walk.state === "object" ? walk.ref.project : walk.project
      if (this.#projects.has(name)) continue
      const isRequested = walk.state === "object" && walk.isRequested
      this.#projects.set(name, await this.#projectOf(name, isRequested))
    }
  }

  /** A stored value may refer to another team's project, which counts as missing. */
  async #projectOf(name: string, isRequested: boolean): Promise<ProjectAccess | null> {
    try {
      return await existingProject(this.#dependencies.database, this.#principal, name, "read")
    } catch (error) {
      if (!isRequested && error instanceof HeddleError && error.code === "project_not_found") return null
      throw error
    }
  }

  async #findObjects(walks: readonly Walk[]): Promise<void> {
    const wanted = new Map<string, Ref>()
    const requested = new Set<string>()
    for (const walk of walks) {
      if (walk.state !== "object") continue
      const key = keyOf(walk.ref)
      if (walk.isRequested) requested.add(key)
      if (!this.#objects.has(key)) wanted.set(key, walk.ref)
    }
    const missing: Ref[] = []
    for (const [project, refs] of Map.groupBy(wanted.values(), (ref) => ref.project)) {
      const found = await this.#versionsOf(project, refs)
      refs.forEach((ref, index) => {
        const { exists = false, val = null } = found[index] ?? {}
        if (!exists && requested.has(keyOf(ref))) missing.push(ref)
        this.#objects.set(keyOf(ref), val)
      })
    }
    if (missing.length > 0) throw refsNotFound(missing)
  }

  /** `val` is null of a version that was deleted. */
  async #versionsOf(projectName: string, refs: readonly Ref[]): Promise<{ exists: boolean; val: string | null }[]> {
    const project = this.#projects.get(projectName)
    if (project == null) return []
    const { database } = this.#dependencies
    const names = refs.map(versionNameOf)
    const found = await findVersions(database, project.id, names, false)
    const live = found.flatMap((version) => (version?.deleted_at === null ? [version] : []))
    for (const { size_bytes } of live) this.#hold(size_bytes)
    const values = new Map<string, string | null>()
    for await (const versions of withValues(database, project.id, live)) {
      for (const version of versions) values.set(nameOf(version), version.val)
    }
    return found.map((version) => ({
      exists: version !== null,
      val: version === null ? null : (values.get(nameOf(version)) ?? null),
    }))
  }

  /** By {@link rowKey}. */
  async #findRows(walks: readonly Walk[]): Promise<Map<string, string>> {
    const rows = new Map<string, string>()
    const wanted = walks.filter((walk) => walk.state === "row")
    for (const [name, ofProject] of Map.groupBy(wanted, (walk) => walk.project)) {
      const project = this.#projects.get(name)
      if (project == null) continue
      const digests = [...new Set(ofProject.map((walk) => walk.digest))]
      for await (const { texts } of rowPieces(this.#dependencies.traces, project.id, digests)) {
        for (const [digest, text] of texts) {
          this.#hold(text.length)
          rows.set(rowKey(name, digest), text)
        }
      }
    }
    return rows
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes
    checkRefBytes(this.#heldBytes, this.#mostBytes)
  }
}

function nameOf({ object_id, digest }: ObjectVersionRecord): string {
  return `${object_id}:${digest}`
}

function keyOf({ project, kind, name, version }: Ref): string {
  return `${project} ${kind} ${name}:${version}`
}

function rowKey(project: string, digest: string): string {
  return `${project} row ${digest}`
}

/** Of the value that a walk waits for; null: it waits for none. */
function valueKeyOf(walk: Walk): string | null {
  if (walk.state === "done") return null
  return walk.state === "object" ? keyOf(walk.ref) : rowKey(walk.project, walk.digest)
}

function stepsLeft(walk: Walk): RefStep[] {
  if (walk.state === "done") return []
  return walk.state === "object" ? walk.ref.steps : walk.steps
}

function walkOf(value: string, end: PathEnd, steps: readonly RefStep[]): Walk {
  if (end === null) return { state: "done", value: null }
  if ("ref" in end) return through(end.ref, steps.slice(end.taken))
  return { state: "done", value: value.slice(end.from, end.to) }
}

function through(text: string, rest: readonly RefStep[]): Walk {
  const ref = tryParseRef(text)
  if (ref?.kind === "object" || ref?.kind === "op") {
    return { state: "object", ref: { ...ref, steps: [...ref.steps, ...rest] }, isRequested: false }
  }
  const [first, ...others] = [...(ref?.steps ?? []), ...rest]
  if (ref?.kind !== "table" || first?.edge !== "id") return { state: "done", value: null }
  return { state: "row", project: ref.project, digest: first.value, steps: others }
}

function refsNotFound(refs: readonly Ref[]): HeddleError {
  const names = refs.map(({ name, version }) => `${name}:${version}`)
  return new HeddleError("refs_not_found", `Ref objects not found: ${names.join(", ")}`, {
    extras: { missing_object_digests: refs.map((ref) => ref.version) },
  })
}

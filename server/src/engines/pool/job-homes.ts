/**
 * Which engine a training job is on. Its snapshots lie there, so it is written down in the job's own folder, where a server
 * that starts again, or another one that takes the job over, finds it.
 */
import { readFile, rename, writeFile } from "node:fs/promises"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { EngineFailure, type EngineParams, jobsPerEngine } from "../engine.ts"
import { placeJob } from "./placement.ts"
import type { PoolMember } from "./pool-member.ts"

const homeFile = "engine"
const lookMs = 200

type Train = EngineParams<"train">

export class JobHomes {
  readonly #members: readonly PoolMember[]
  readonly #failOverMs: number
  #waiting = 0

  /** `failOverMs`: how long an engine must be away before its jobs begin again on another. */
  constructor(members: readonly PoolMember[], failOverMs: number) {
    this.#members = members
    this.#failOverMs = failOverMs
  }

  /** Jobs that wait for their engine, or for room on another. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * The engine for a job, on which it is counted from here on: its own as soon as that is there, another one once its own has
   * been away for long, or where the job has none. `tried`: those that have refused it. `isHome`: it may have its snapshots.
   * @throws {EngineFailure} `cancelled` by `signal`; `unavailable` where no engine is left.
   */
  async place(
    params: Train,
    tried: ReadonlySet<PoolMember>,
    signal: AbortSignal | undefined,
  ): Promise<{ member: PoolMember; isHome: boolean }> {
    const file = path.join(params.work_dir, homeFile)
    const home = await readHome(file)
    const member = await this.#whenThereIsRoom(() => this.#choose(home, params, tried), signal)
    const isHome = member.name === home
    member.jobs += 1
    try {
      if (!isHome) await writeHome(file, member.name)
    } catch (error) {
      member.jobs -= 1
      throw error
    }
    return { member, isHome }
  }

  async #whenThereIsRoom(choose: () => PoolMember | null, signal: AbortSignal | undefined): Promise<PoolMember> {
    const found = choose()
    if (found !== null) return found
    this.#waiting += 1
    try {
      for (;;) {
        await sleep(lookMs, undefined, { ...(signal && { signal }), ref: false }).catch(() => {
          throw new EngineFailure("cancelled", "cancelled while it waited for its engine")
        })
        const free = choose()
        if (free !== null) return free
      }
    } finally {
      this.#waiting -= 1
    }
  }

  /** null: later, perhaps. */
  #choose(home: string | null, params: Train, tried: ReadonlySet<PoolMember>): PoolMember | null {
    const own = this.#members.find((member) => member.name === home && !tried.has(member))
    if (own?.isTaking === true) return own.jobs < jobsPerEngine ? own : null
    if (own !== undefined && own.awayMs < this.#failOverMs) return null
    const untried = this.#members.filter((member) => !tried.has(member))
    const left = untried.filter((member) => member.isTaking)
    // One that refuses calls, or that went a short while ago, has not been asked for this job: it may take it later.
    const isLater = untried.some((member) => member.isReady || member.awayMs < this.#failOverMs)
    if (left.length === 0 && isLater) return null
    if (left.length === 0) throw new EngineFailure("unavailable", "the job's engine is away, and there is no other")
    const able = left.filter((member) => !member.lacks(params.base))
    const loads = (able.length > 0 ? able : left).map((member) => member.load(params.base))
    return placeJob(loads, { key: modelOf(params), mostJobs: jobsPerEngine })?.member ?? null
  }
}

/** The part of an adapter's key that its steps share: an engine that made one has what the next one starts from. */
function modelOf({ output }: Train): string {
  return output.key.split("@", 1)[0] ?? output.key
}

async function readHome(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null
    throw error
  }
}

async function writeHome(file: string, name: string): Promise<void> {
  await writeFile(`${file}.tmp`, name)
  await rename(`${file}.tmp`, file)
}

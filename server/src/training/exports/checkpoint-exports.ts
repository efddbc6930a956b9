/**
 * Checkpoints written out for other programs: made by the engine when they are first asked for, kept for a while for who
 * asks again or goes on with a download, and never more bytes of them than the limit. They are the server's own files and
 * count for no team; a start removes all.
 */
import { randomUUID } from "node:crypto"
import { mkdir, rm } from "node:fs/promises"
import path from "node:path"
import { HeddleError } from "../../errors.ts"
import type { Log } from "../../log.ts"
import { outsideOfRequests } from "../../work/work-scope.ts"
import type { BaseRef } from "../../wire/engine/base.ts"
import type { ExportDtype, ExportFormat } from "../../wire/engine/export.ts"

const folderName = "checkpoint-exports"
/** After its last use. */
const keptMs = 15 * 60_000
/** How long an export goes on that nobody waits for: a proxy may have cut its client off, which asks again. */
const leftMs = 60_000
/** Being made or waiting for it, of one team. */
const mostOfTeam = 8

export interface ExportOf {
  base: BaseRef
  modelId: string
  step: number
  path: string | null
  manifestSha256: string | null
  format: ExportFormat
  dtype: ExportDtype | null
  title: string
  tenant: string
}

type MakeExport = (
  request: ExportOf,
  target: { output: string; planned: (sizeBytes: number) => Promise<void>; signal: AbortSignal },
) => Promise<number>

interface Kept {
  request: ExportOf
  output: string
  made: Promise<number>
  controller: AbortController
  isMade: boolean
  /** While it is made as planned. */
  sizeBytes: number
  users: number
  usedAt: number
  timer: NodeJS.Timeout | undefined
}

interface CheckpointExportOptions {
  dataDir: string
  make: MakeExport
  maximumBytes: number
  log: Log
}

interface UsedExport {
  /** A folder, or a file. */
  path: string
  /** Call it once, when the answer has been sent. */
  release: () => void
}

export class CheckpointExports {
  readonly #options: CheckpointExportOptions
  readonly #folder: string
  readonly #kept = new Map<string, Kept>()

  constructor(options: CheckpointExportOptions) {
    this.#options = options
    this.#folder = path.join(options.dataDir, folderName)
  }

  /** Removes what an earlier process left. */
  async open(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }

  /**
   * The export, which is made now unless it is there or under way.
   * @throws {HeddleError} when it cannot be made, `requireRoom` finds none, or the client leaves.
   */
  async use(
    request: ExportOf,
    requireRoom: (sizeBytes: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<UsedExport> {
    const key = keyOf(request)
    const kept = this.#kept.get(key) ?? this.#begin(key, request, requireRoom)
    this.#take(kept)
    let isUsed = true
    const release = () => {
      if (isUsed) this.#leave(key, kept)
      isUsed = false
    }
    try {
      await Promise.race([kept.made, whenLeft(signal)])
      return { path: kept.output, release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Those of a checkpoint that was deleted (`step` null: of all of the model's), now or after their last use. */
  async remove(modelId: string, step: number | null): Promise<void> {
    const found = [...this.#kept].filter(
      ([, { request }]) => request.modelId === modelId && (step === null || request.step === step),
    )
    await Promise.all(
      found.map(async ([key, kept]) => {
        this.#kept.delete(key)
        if (kept.users === 0) await this.#drop(kept)
      }),
    )
  }

  async close(): Promise<void> {
    const all = [...this.#kept.values()]
    this.#kept.clear()
    await Promise.all(all.map((kept) => this.#drop(kept)))
  }

  #begin(key: string, request: ExportOf, requireRoom: (sizeBytes: number) => Promise<void>): Kept {
    const open = [...this.#kept.values()].filter((other) => !other.isMade && other.request.tenant === request.tenant)
    if (open.length >= mostOfTeam) {
      throw new HeddleError("rate_limit_exceeded", `${mostOfTeam} exports of your team are being made; wait for one`)
    }
    const controller = new AbortController()
    const { name, parent } = this.#place(request)
    const kept: Kept = {
      request,
      output: path.join(parent, name),
      made: Promise.resolve(0),
      controller,
      isMade: false,
      sizeBytes: 0,
      users: 0,
      usedAt: performance.now(),
      timer: undefined,
    }
    const planned = async (sizeBytes: number) => {
      await requireRoom(sizeBytes)
      await this.#makeRoom(kept, sizeBytes)
    }
    this.#kept.set(key, kept)
    kept.made = outsideOfRequests(() => this.#make(kept, parent, planned)).catch(async (error: unknown) => {
      if (this.#kept.get(key) === kept) this.#kept.delete(key)
      await this.#removeFiles(kept)
      throw error
    })
    // Everybody who waited may have left.
    kept.made.catch(() => undefined)
    return kept
  }

  async #make(kept: Kept, parent: string, planned: (sizeBytes: number) => Promise<void>): Promise<number> {
    const { output, controller, request } = kept
    await mkdir(parent, { recursive: true, mode: 0o700 })
    const sizeBytes = await this.#options.make(request, { output, planned, signal: controller.signal })
    kept.sizeBytes = sizeBytes
    kept.isMade = true
    return sizeBytes
  }

  /** A folder of its own each time: what is removed late is never what was made anew. */
  #place({ format, title, dtype }: ExportOf): { name: string; parent: string } {
    const suffix = dtype === null ? "" : `-${dtype}`
    const name = format === "gguf" ? `${title}${suffix}.gguf` : `${title}-merged${suffix}`
    return { name, parent: path.join(this.#folder, randomUUID()) }
  }

  async #makeRoom(wanted: Kept, sizeBytes: number): Promise<void> {
    const { maximumBytes } = this.#options
    const setting = "HEDDLE_LIMIT_CHECKPOINT_EXPORT_BYTES"
    if (sizeBytes > maximumBytes) {
      throw new HeddleError(
        "payload_too_large",
        `the export would take about ${sizeBytes} bytes, and all exports together may take ${maximumBytes}; ` +
          `choose a smaller dtype, or have ${setting} raised`,
      )
    }
    const others = [...this.#kept].filter(([, kept]) => kept !== wanted)
    let taken = others.reduce((sum, [, kept]) => sum + kept.sizeBytes, sizeBytes)
    const idle = others.filter(([, kept]) => kept.isMade && kept.users === 0)
    const dropped: [string, Kept][] = []
    for (const each of idle.toSorted(([, one], [, other]) => one.usedAt - other.usedAt)) {
      if (taken <= maximumBytes) break
      dropped.push(each)
      taken -= each[1].sizeBytes
    }
    if (taken > maximumBytes) {
      throw new HeddleError(
        "server_overloaded",
        `exports that are made or downloaded now leave no room for ${sizeBytes} bytes more of the ${maximumBytes} that ` +
          `${setting} allows; try again when they are done`,
        { retryAfterMs: 30_000 },
      )
    }
    // All at once, before anything is waited for: meanwhile others look for room, and somebody may ask for one of these.
    wanted.sizeBytes = sizeBytes
    for (const [key] of dropped) this.#kept.delete(key)
    await Promise.all(dropped.map(([, kept]) => this.#drop(kept)))
  }

  #take(kept: Kept): void {
    clearTimeout(kept.timer)
    kept.users += 1
    kept.usedAt = performance.now()
  }

  #leave(key: string, kept: Kept): void {
    kept.users -= 1
    kept.usedAt = performance.now()
    if (kept.users > 0) return
    const drop = () => {
      if (this.#kept.get(key) === kept) this.#kept.delete(key)
      return this.#drop(kept)
    }
    // Its checkpoint was deleted meanwhile.
    if (this.#kept.get(key) !== kept) return void drop()
    kept.timer = setTimeout(() => void drop(), kept.isMade ? keptMs : leftMs).unref()
  }

  async #drop(kept: Kept): Promise<void> {
    clearTimeout(kept.timer)
    kept.controller.abort()
    await kept.made.catch(() => undefined)
    await this.#removeFiles(kept)
  }

  async #removeFiles({ output }: Kept): Promise<void> {
    await rm(path.dirname(output), { recursive: true, force: true }).catch((error: unknown) =>
      this.#options.log.error({ err: error }, "an exported checkpoint could not be removed"),
    )
  }
}

function keyOf({ modelId, step, format, dtype }: ExportOf): string {
  return `${modelId}@${step} ${format} ${dtype}`
}

async function whenLeft(signal: AbortSignal): Promise<never> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })
  throw new HeddleError("request_timeout", "the client left before the export was made")
}

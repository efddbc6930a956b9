/**
 * Backups of the running server: each is a data folder of its own, under a name that says when it was made. One that is being
 * made has another name until it is whole and on the disk.
 */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { HeddleError } from "../../errors.ts"
import type { Log } from "../../log.ts"
import { backup } from "../../wire/platform/backup.ts"
import { namesIn } from "../file-system/names-in.ts"
import { syncFolder } from "../file-system/sync-folder.ts"
import { type EmbeddedStores, requireBytes, snapshotData } from "./data-snapshot.ts"
import { moveByCopy, renamed } from "./move.ts"
import { bytesOf, settle } from "./settle.ts"
import { recordFile } from "./whole-copy.ts"

export interface BackupRecord {
  name: string
  createdAt: Date
  /** Of all its files; those that it shares with the data folder or another backup count in each. */
  bytes: number
  /** How long it took. */
  seconds: number
}

export interface BackupsOptions {
  dataDir: string
  /** Where finished backups lie. */
  folder: string
  /** null: a store is a server of its own. */
  stores: EmbeddedStores | null
  /** Stores what was acknowledged and is still in memory. */
  flush: () => Promise<unknown>
  log: Log
}

/** It lies in the data folder, since links do not reach another disk, on which the folder of backups may be. */
const inProgress = "backup-in-progress"
const recordSchema = backup.pick({ bytes: true, seconds: true })
const partial = ".partial"
const nameFormat = /^\d{8}T\d{9}Z$/

export class Backups {
  readonly #options: BackupsOptions
  readonly #staging: string
  readonly #closing = new AbortController()
  #making: Promise<unknown> | null = null

  constructor(options: BackupsOptions) {
    this.#options = options
    this.#staging = path.join(options.dataDir, inProgress)
  }

  /** Removes what was cut off: backups that were being made or removed. */
  async open(): Promise<void> {
    const { folder } = this.#options
    await rm(this.#staging, { recursive: true, force: true })
    for (const name of await namesIn(folder)) {
      if (!name.endsWith(partial) || !nameFormat.test(name.slice(0, -partial.length))) continue
      await rm(path.join(folder, name), { recursive: true, force: true })
    }
  }

  /**
   * Makes one, inside of `recorded`, which hears its name before.
   * @throws {HeddleError} `conflict` while another one is being made, and where a store is a server of its own;
   * `insufficient_storage`.
   */
  async make(
    recorded: (name: string, work: () => Promise<BackupRecord>) => Promise<BackupRecord>,
  ): Promise<BackupRecord> {
    const { stores } = this.#options
    if (stores === null) throw new HeddleError("conflict", ofServers)
    if (this.#making !== null) {
      throw new HeddleError("conflict", "a backup is being made; make the next one when it is listed")
    }
    const createdAt = new Date()
    const making = recorded(nameOf(createdAt), () => this.#make(stores, createdAt))
    this.#making = making.catch(() => undefined)
    try {
      return await making
    } finally {
      this.#making = null
    }
  }

  /** The oldest first. @throws {HeddleError} `conflict`: what one says of itself cannot be read. */
  async list(): Promise<BackupRecord[]> {
    const names = (await namesIn(this.#options.folder)).filter(isBackupName).toSorted()
    return (await Promise.all(names.map((name) => this.#read(name)))).filter((record) => record !== null)
  }

  async has(name: string): Promise<boolean> {
    return isBackupName(name) && (await namesIn(this.#options.folder)).includes(name)
  }

  /** Call it for a name that {@link has} knows. @throws {HeddleError} `not_found`: another request has removed it since. */
  async remove(name: string): Promise<void> {
    const file = path.join(this.#options.folder, name)
    // At one moment: a kill must not leave half of it under its name.
    await rename(file, file + partial).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "ENOENT" ? noBackup(name) : error
    })
    await rm(file + partial, { recursive: true, force: true })
  }

  /** Gives up the one that is being made. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#making
  }

  async #make(stores: EmbeddedStores, createdAt: Date): Promise<BackupRecord> {
    const { folder, flush, log } = this.#options
    const { signal } = this.#closing
    const begun = performance.now()
    const name = nameOf(createdAt)
    const unfinished = path.join(folder, name + partial)
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await flush()
      const held = await snapshotData(stores, this.#staging, signal)
      await settle(this.#staging, signal)
      const bytes = await bytesOf(this.#staging)
      await this.#moveOut(unfinished, bytes)
      const seconds = Math.round(performance.now() - begun) / 1000
      const record = { name, createdAt, bytes, seconds }
      await writeFile(path.join(unfinished, recordFile), JSON.stringify({ bytes, seconds, unused: true }), {
        mode: 0o600,
        flush: true,
      })
      await syncFolder(unfinished)
      await rename(unfinished, path.join(folder, name))
      await syncFolder(folder)
      log.info({ backup: name, bytes, seconds, held }, "a backup was made")
      return record
    } catch (error) {
      await Promise.all([this.#staging, unfinished].map((one) => rm(one, { recursive: true, force: true })))
      throw error
    }
  }

  async #moveOut(target: string, bytes: number): Promise<void> {
    if (await renamed(this.#staging, target)) return
    await requireBytes(this.#options.folder, bytes)
    await moveByCopy(this.#staging, target)
    await settle(target, this.#closing.signal)
  }

  /** null: it is none of ours. @throws {HeddleError} `conflict`. */
  async #read(name: string): Promise<BackupRecord | null> {
    const file = path.join(this.#options.folder, name, recordFile)
    try {
      const { bytes, seconds } = recordSchema.parse(JSON.parse(await readFile(file, "utf8")))
      return { name, createdAt: timeOf(name), bytes, seconds }
    } catch (error) {
      if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null
      throw damaged(file, name, error)
    }
  }
}

function damaged(file: string, name: string, cause: unknown): HeddleError {
  const message =
    `${file} cannot be read as what a backup says of itself, so backups are not listed. Move the folder "${name}" elsewhere: ` +
    `its data may be whole, and a server can start on a copy of it. Or remove it with DELETE /v1/organization/backups/${name}`
  return new HeddleError("conflict", message, { cause })
}

export function noBackup(name: string): HeddleError {
  return new HeddleError("not_found", `no backup "${name}"`)
}

const ofServers =
  "the catalog or the traces of this server are in a server of their own (HEDDLE_POSTGRES_URL, HEDDLE_CLICKHOUSE_URL), " +
  "which is backed up by its own tools, such as pg_dump and clickhouse-backup; docs/guide/operating.md says in which order"

/** Whether it is a name that {@link nameOf} makes. */
function isBackupName(name: string): boolean {
  return nameFormat.test(name) && !Number.isNaN(timeOf(name).getTime())
}

/** A time to the millisecond, without signs that a file system may refuse: `20260131T235959123Z`. */
function nameOf(time: Date): string {
  return time.toISOString().replaceAll(/[-:.]/g, "")
}

function timeOf(name: string): Date {
  return new Date(name.replace(/^(....)(..)(..T..)(..)(..)(...)Z$/, "$1-$2-$3:$4:$5.$6Z"))
}

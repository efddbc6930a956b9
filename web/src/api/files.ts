/** What users stored as files, by an address: for pictures, players and downloads, and where the beginning is enough. */
import type { ShownType } from "@heddle/server/wire/shown-type.ts"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { addressOf } from "../base-path.ts"
import type { ApiError } from "./api-error.ts"
import { send } from "./client.ts"

/**
 * A file of a project, one that a run of the wandb client stored under a path, or one of an artifact, whose place below the
 * server's root the server tells.
 */
export type StoredFile =
  | { project: string; digest: string }
  | { run: { entity: string; project: string; run: string }; path: string }
  | { artifactFile: string }

/** `type` for what shows it; without it the file is any bytes. `name`: under which a file of a project is saved. */
export function fileAddress(file: StoredFile, { type, name }: { type?: ShownType | null; name?: string }): string {
  const { path, query } = fileRequest(file)
  if (type != null) query.set("type", type)
  if ("digest" in file && name !== undefined && name !== "") query.set("name", name.slice(0, 255))
  return query.size === 0 ? addressOf(path) : `${addressOf(path)}?${query.toString()}`
}

/** Where it is asked for. */
function fileRequest(file: StoredFile): { path: string; query: URLSearchParams } {
  if ("digest" in file) {
    const query = new URLSearchParams({ project_id: file.project, digest: file.digest })
    return { path: "/files/content", query }
  }
  if ("artifactFile" in file) return { path: `/${file.artifactFile}`, query: new URLSearchParams() }
  const { entity, project, run } = file.run
  const parts = [entity, project, run, ...file.path.split("/")]
  return { path: `/files/${parts.map(encodeURIComponent).join("/")}`, query: new URLSearchParams() }
}

export interface FileStart {
  text: string
  /** Of the whole file, in bytes. */
  size: number
}

/** What stands at the beginning of a file, however large it is. A digest never names another one. */
export function useFileStart(file: StoredFile, bytes: number, enabled: boolean) {
  return useQuery({
    ...queryOptions<FileStart, ApiError>({
      queryKey: ["GET file", file, bytes],
      queryFn: async ({ signal }) => {
        const { path, query } = fileRequest(file)
        const response = await send({
          method: "GET",
          path,
          query: Object.fromEntries(query),
          headers: { range: `bytes=0-${bytes - 1}` },
          signal,
        })
        const text = await response.text()
        const whole = response.headers.get("content-range")?.split("/")[1] ?? response.headers.get("content-length")
        return { text, size: Number(whole ?? text.length) }
      },
    }),
    enabled,
    staleTime: "digest" in file ? Infinity : 0,
  })
}

/** The whole of a file, as text. */
export function useTextFile(file: StoredFile, enabled: boolean) {
  return useQuery({
    ...queryOptions<string, ApiError>({
      queryKey: ["GET file", file],
      queryFn: async ({ signal }) => {
        const { path, query } = fileRequest(file)
        return (await send({ method: "GET", path, query: Object.fromEntries(query), signal })).text()
      },
    }),
    enabled,
  })
}

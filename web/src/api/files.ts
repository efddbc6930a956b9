/** Files of a project by an address, for pictures, players and downloads: `GET /files/content`. */
import { queryOptions, useQuery } from "@tanstack/react-query"
import { addressOf } from "../../base-path.ts"
import type { ShownType } from "../../media/media-types.ts"
import type { ApiError } from "../api-error.ts"
import { send } from "../client.ts"

interface FileOf {
  project: string
  digest: string
}

/** `type` for what shows it; without it the file is any bytes. `name` is the one under which it is saved. */
export function fileAddress({ project, digest }: FileOf, { type, name }: { type?: ShownType | null; name?: string }) {
  const query = new URLSearchParams({ project_id: project, digest })
  if (type != null) query.set("type", type)
  if (name !== undefined && name !== "") query.set("name", name.slice(0, 255))
  return `${addressOf("/files/content")}?${query.toString()}`
}

export interface FileStart {
  text: string
  /** Of the whole file, in bytes. */
  size: number
}

/** What stands at the beginning of a file, however large it is. A digest never names another one. */
export function useFileStart({ project, digest }: FileOf, bytes: number, enabled: boolean) {
  return useQuery({
    ...queryOptions<FileStart, ApiError>({
      queryKey: ["GET /files/content", project, digest, bytes],
      queryFn: async ({ signal }) => {
        const response = await send({
          method: "GET",
          path: "/files/content",
          query: { project_id: project, digest },
          headers: { range: `bytes=0-${bytes - 1}` },
          signal,
        })
        const text = await response.text()
        const whole = response.headers.get("content-range")?.split("/")[1] ?? response.headers.get("content-length")
        return { text, size: Number(whole ?? text.length) }
      },
    }),
    enabled,
    staleTime: Infinity,
  })
}

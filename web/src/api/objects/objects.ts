/** Objects and files: `/obj/read`, `/file/content`. */
import type { objectRead } from "@heddle/server/wire/objects/object.ts"
import { queryOptions, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { send } from "../client.ts"
import { jsonQuery } from "../queries.ts"

type ObjectRead = z.output<typeof objectRead>

/** `enabled: false` for what is no ref. */
export function useObject(body: { project_id: string; object_id: string; digest: string }, enabled: boolean) {
  return useQuery({ ...jsonQuery<ObjectRead>("POST", "/obj/read", body), enabled, staleTime: Infinity })
}

/** The text of a stored file; a digest never names another one. */
export function useFileText(body: { project_id: string; digest: string }, enabled: boolean) {
  return useQuery({
    ...queryOptions<string, ApiError>({
      queryKey: ["POST /file/content", body],
      queryFn: async ({ signal }) => (await send({ method: "POST", path: "/file/content", body, signal })).text(),
    }),
    enabled,
    staleTime: Infinity,
  })
}

/** Versions of objects, their tags and aliases: `/objs/…`, `/obj/read`. Values stay text, with their numbers as written. */
import type { objectQueryBody, objectVersion } from "@heddle/server/wire/objects/object.ts"
import { queryOptions, useMutation, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import { elementTexts, type JsonText, memberTexts, readRecord } from "../../json/json-text.ts"
import type { ApiError } from "../api-error.ts"
import { type Request, send, sendForJson } from "../client.ts"
import { queryClient } from "../queries.ts"

type Version = z.output<typeof objectVersion>

/** In a list without values `val` is empty. */
export type ObjectVersion = Omit<Version, "val"> & { val: JsonText }

export type ObjectQuery = z.input<typeof objectQueryBody>

const lists = "POST /objs/query"
const reads = "POST /obj/read"

const objectsQuery = (body: ObjectQuery) =>
  queryOptions<ObjectVersion[], ApiError>({
    queryKey: [lists, body],
    queryFn: async ({ signal }) => {
      const answer = await send({ method: "POST", path: "/objs/query", body, signal })
      const objects = memberTexts(await answer.text()).get("objs") ?? "[]"
      return elementTexts(objects).map((text) => readRecord<Version, "val">(text, ["val"]))
    },
  })

export function useObjectVersions(body: ObjectQuery, enabled = true) {
  return useQuery({ ...objectsQuery(body), enabled })
}

/** One version, by its digest, index or alias, or the latest, with its tags and aliases. */
export function useObjectVersion(body: { project_id: string; object_id: string; digest: string }, enabled = true) {
  return useQuery({
    ...queryOptions<ObjectVersion, ApiError>({
      queryKey: [reads, body, "text"],
      queryFn: async ({ signal }) => {
        const request = { ...body, include_tags_and_aliases: true }
        const answer = await send({ method: "POST", path: "/obj/read", body: request, signal })
        return readRecord<Version, "val">(memberTexts(await answer.text()).get("obj") ?? "{}", ["val"])
      },
    }),
    enabled,
    // Another version is none of this one.
    placeholderData: () => undefined,
  })
}

interface OfVersion {
  project_id: string
  object_id: string
  digest: string
}

/** Changes to the labels of a version. An alias of another version moves to this one. */
export type LabelChange = OfVersion &
  ({ change: "set" | "remove"; alias: string } | { change: "add" | "take"; tag: string })

export function useChangeLabels() {
  return useMutation<unknown, ApiError, LabelChange>({
    mutationFn: (change) => sendForJson(labelRequest(change)),
    onSuccess: async () => {
      await Promise.all([lists, reads].map((queryKey) => queryClient.invalidateQueries({ queryKey: [queryKey] })))
    },
  })
}

function labelRequest(change: LabelChange): Request {
  const { project_id, object_id, digest } = change
  const path = `/objs/${encodeURIComponent(object_id)}`
  const ofVersion = `${path}/versions/${encodeURIComponent(digest)}/tags`
  switch (change.change) {
    case "set":
      return { method: "PUT", path: `${path}/aliases`, body: { project_id, digest, aliases: [change.alias] } }
    case "remove":
      return { method: "POST", path: `${path}/aliases/remove`, body: { project_id, aliases: [change.alias] } }
    case "add":
      return { method: "PUT", path: ofVersion, body: { project_id, tags: [change.tag] } }
    case "take":
      return { method: "POST", path: `${ofVersion}/remove`, body: { project_id, tags: [change.tag] } }
  }
}

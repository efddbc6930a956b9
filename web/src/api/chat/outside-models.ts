/** Models of other services: `/objs/query` of their endpoints, `/v2/…/provider_keys`. */
import type { ProviderKeys } from "@heddle/server/wire/evaluations/runtime.ts"
import { useQuery } from "@tanstack/react-query"
import { useObjectVersions } from "../objects/object-versions.ts"
import { jsonQuery } from "../queries.ts"

export interface Endpoint {
  name: string
  address: string
  /** null: it takes none. */
  keyName: string | null
  models: string[]
}

/** Names of keys that the operator keeps for the project's team. */
export function useProviderKeys(projectId: string) {
  const path = `/v2/${projectId.split("/").map(encodeURIComponent).join("/")}/provider_keys`
  return useQuery(jsonQuery<ProviderKeys>("GET", path))
}

/** As they are now. */
export function useEndpoints(projectId: string) {
  const found = useObjectVersions({
    project_id: projectId,
    filter: { base_object_classes: ["Provider", "ProviderModel"], latest_only: true },
  })
  return { ...found, data: found.data === undefined ? undefined : endpointsOf(found.data) }
}

function endpointsOf(
  objects: readonly { object_id: string; digest: string; base_object_class: string | null; val: string }[],
): Endpoint[] {
  const read = objects.map((one) => ({ ...one, value: JSON.parse(one.val) as Record<string, unknown> }))
  const models = read.filter(({ base_object_class: of }) => of === "ProviderModel")
  return read
    .filter(({ base_object_class: of }) => of === "Provider")
    .map(({ object_id: id, digest, value }) => ({
      name: textOf(value["name"]) ?? id,
      address: textOf(value["base_url"]) ?? "",
      keyName: textOf(value["api_key_name"]),
      models: models
        .filter((model) => [digest, `/${id}:${digest}`].some((end) => textOf(model.value["provider"])?.endsWith(end)))
        .map((model) => textOf(model.value["name"]) ?? model.object_id),
    }))
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null
}

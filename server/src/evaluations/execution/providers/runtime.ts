/**
 * Applying a runtime: its Provider object and one ProviderModel for each id. What is there already is
 * taken over; a request that is repeated changes nothing, one that broke off is completed.
 */
import { isIP } from "node:net"
import { HeddleError, invalid } from "../../../errors.ts"
import type { Principal } from "../../../http/principal.ts"
import { isJsonObject } from "../../../json/parsed-json.ts"
import type { FetchPolicy } from "../../../outbound/public-address.ts"
import { listVersions, type ObjectVersionRecord } from "../../../storage/catalog/objects/object-reads.ts"
import { longestObjectId, type Runtime, type RuntimeBody } from "../../../wire/evaluations/runtime.ts"
import { publishValue } from "../../../objects/object-create.ts"
import { deleteObject } from "../../../objects/object-read.ts"
import { withValues } from "../../../objects/version-values.ts"
import { ensureProject } from "../../../access/project-access.ts"
import type { ExecutionDependencies } from "../dependencies.ts"
import { checkHeaders, providerObjectId } from "./provider.ts"

interface RuntimeRequest {
  project: string
  name: string
  body: RuntimeBody
}

/** @throws {HeddleError} 400, 403, 422; nothing was written. */
export async function applyRuntime(
  dependencies: ExecutionDependencies,
  principal: Principal,
  { project: projectName, name, body }: RuntimeRequest,
): Promise<Runtime> {
  const headers = body.headers ?? {}
  checkAddress(dependencies.fetchPolicy, body.base_url)
  checkHeaders(headers)
  const objectId = providerObjectId(name)
  const models = modelsOf(objectId, body)
  const { id: projectId } = await ensureProject(dependencies.database, principal, projectName)
  const existing = await existingObjects(dependencies, projectId, objectId)
  checkTaken(existing, name, models)

  const publish = async (object_id: string, builtin_object_class: string, val: object) => {
    const obj = { project_id: projectName, object_id, builtin_object_class }
    return (await publishValue(dependencies, principal, obj, JSON.stringify(val))).digest
  }
  const provider = await publish(objectId, "Provider", {
    name,
    base_url: body.base_url,
    api_key_name: body.api_key_secret ?? "",
    extra_headers: headers,
    return_type: "openai",
  })
  for (const [modelId, { id, max_tokens }] of models) {
    await publish(modelId, "ProviderModel", { name: id, provider, max_tokens })
  }
  for (const { object_id } of existing.own) {
    if (!models.has(object_id))
      await deleteObject(dependencies.database, principal, { project_id: projectName, object_id })
  }
  return {
    name,
    base_url: body.base_url,
    api_key_secret: body.api_key_secret || null,
    headers,
    runtime_ids: body.runtime_ids.map((one) => ({ ...one, playground_id: `custom::${name}::${one.id}` })),
  }
}

function checkAddress(policy: FetchPolicy, address: string): void {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol) || address.includes("?") || address.includes("#")) {
    throw new HeddleError("invalid_request", `base_url "${address}" is not an http or https address without a query`)
  }
  if (url.username !== "" || url.password !== "") {
    throw new HeddleError("invalid_request", "base_url holds a password; name a secret in api_key_secret instead")
  }
  const host = url.hostname.replace(/^\[|\]$/g, "")
  if (isIP(host) === 0 || policy.allowsAddress(host)) return
  throw new HeddleError(
    "invalid_request",
    `base_url "${address}" is not a public address; an operator can allow it with HEDDLE_FETCH_ALLOW`,
  )
}

type RuntimeModels = ReadonlyMap<string, RuntimeBody["runtime_ids"][number]>

/** By object id. */
function modelsOf(objectId: string, { runtime_ids }: RuntimeBody): RuntimeModels {
  const models = new Map<string, RuntimeBody["runtime_ids"][number]>()
  for (const [index, one] of runtime_ids.entries()) {
    const modelId = `${objectId}-${providerObjectId(one.id)}`
    if (modelId.length > longestObjectId) {
      throw invalid(
        ["body", "runtime_ids", index, "id"],
        `the names of runtime and id have more than ${longestObjectId - 1} characters together`,
      )
    }
    const other = models.get(modelId)
    if (other !== undefined) {
      throw new HeddleError(
        "invalid_request",
        `the runtime ids "${other.id}" and "${one.id}" are one once their signs are replaced by "_"; rename one`,
      )
    }
    models.set(modelId, one)
  }
  return models
}

interface ExistingObjects {
  provider: ObjectVersionRecord | null
  /** Models of this runtime. */
  own: ObjectVersionRecord[]
  /** Models of another runtime. */
  foreign: ObjectVersionRecord[]
}

async function existingObjects(
  { database }: ExecutionDependencies,
  projectId: string,
  objectId: string,
): Promise<ExistingObjects> {
  const versions = (filter: object) =>
    listVersions(database, projectId, { filter: { ...everything, ...filter }, order: [], limit: null, offset: 0 })
  const valued = async (listed: readonly ObjectVersionRecord[]) =>
    (await Array.fromAsync(withValues(database, projectId, listed))).flat()
  const providers = await versions({ objectIds: [objectId] })
  const models = await versions({ baseObjectClasses: ["ProviderModel"], latestOnly: true })
  const digests = new Set<unknown>(providers.map(({ digest }) => digest))
  const near = await valued(models.filter(({ object_id }) => object_id.startsWith(`${objectId}-`)))
  const [provider = null] = await valued(providers.filter(({ is_latest }) => is_latest))
  const isOwn = (model: ObjectVersionRecord) => digests.has(valueOf(model)["provider"])
  return {
    provider,
    own: near.filter(isOwn),
    foreign: near.filter((model) => !isOwn(model)),
  }
}

const everything = {
  baseObjectClasses: [],
  excludeBaseObjectClasses: [],
  leafObjectClasses: [],
  objectIds: [],
  isOp: false,
  latestOnly: false,
  tags: [],
  aliases: [],
}

function valueOf({ val }: ObjectVersionRecord): Record<string, unknown> {
  const value: unknown = JSON.parse(val ?? "null")
  return isJsonObject(value) ? value : {}
}

function checkTaken({ provider, foreign }: ExistingObjects, name: string, models: RuntimeModels): void {
  const taken = provider === null ? name : valueOf(provider)["name"]
  if (taken !== name) {
    throw new HeddleError(
      "invalid_request",
      `the runtime name "${name}" is stored as "${provider?.object_id}", which "${String(taken)}" has already; choose another`,
    )
  }
  const other = foreign.find(({ object_id }) => models.has(object_id))
  if (other === undefined) return
  throw new HeddleError(
    "invalid_request",
    `"${other.object_id}" is a model of another provider; rename the runtime or the id, or delete that object`,
  )
}

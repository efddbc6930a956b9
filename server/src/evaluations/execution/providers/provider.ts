/**
 * Custom providers: OpenAI-compatible endpoints, published as objects of the classes `Provider` and
 * `ProviderModel` and named `custom::<provider>::<model>` (weave 0.52.41, `llm_completion.py`).
 */
import { HeddleError } from "../../../errors.ts"
import type { Principal } from "../../../http/principal.ts"
import { isJsonObject } from "../../../json/parsed-json.ts"
import type { ProjectAccess } from "../../../access/project-access.ts"
import { refPrefix } from "../../../objects/refs/refs.ts"
import type { ExecutionDependencies } from "../dependencies.ts"
import { type PublishedObject, publishedObject, readPublished } from "../published-object.ts"
import { keyMask } from "../../../gateway/providers/key-mask.ts"
import type { ProviderModel } from "../../../gateway/providers/provider-request.ts"
import { secretFor } from "../../../gateway/providers/provider-secrets.ts"

const prefix = "custom::"

export function isProviderModelName(model: string): boolean {
  return model.startsWith(prefix) || model.startsWith(refPrefix)
}

/** `model`: `custom::<provider>::<model>`, or the ref of a ProviderModel. @throws {HeddleError} 400, 403, 404. */
export async function findProviderModel(
  { database, secrets }: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  model: string,
): Promise<ProviderModel> {
  const published = model.startsWith(refPrefix)
    ? await readPublished(database, principal, model)
    : await publishedObject(database, project, modelObjectId(model), "latest")
  requireClass(published, "ProviderModel")
  const name = published.value["name"]
  if (typeof name !== "string" || name === "") throw unusable(published, "has no name")
  const provider = await providerOf({ database }, principal, published, name)
  const providerName = typeof provider.value["name"] === "string" ? provider.value["name"] : provider.name
  const baseUrl = URL.parse(plainText(provider.value["base_url"]))
  if (baseUrl === null) throw unusable(provider, "has no base_url")
  const headers = headersOf(provider)
  const keyName = provider.value["api_key_name"]
  if (typeof keyName === "string" && keyName !== "") {
    headers["authorization"] = `Bearer ${secretFor(secrets, keyName, provider.project.entity, baseUrl.origin)}`
  }
  const hideKey = keyMask(headers["authorization"]?.replace(/^\S+\s+/, "") ?? "")
  return { baseUrl, headers, hideKey, model: name, usageName: `${providerName}/${name}` }
}

/** The object ids that the SDK and its pages give: every character but letters, digits, `_` and `-` becomes `_`. */
export function providerObjectId(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_")
}

function modelObjectId(model: string): string {
  const [provider = "", ...rest] = model.slice(prefix.length).split("::")
  if (provider === "" || rest.length === 0 || rest.join("") === "") {
    throw new HeddleError("invalid_request", `the model "${model}" is not of the form custom::<provider>::<model>`)
  }
  return `${providerObjectId(provider)}-${providerObjectId(rest.join("::"))}`
}

/** A ProviderModel names its provider by ref, or by digest and the first part of its own name. */
async function providerOf(
  { database }: Pick<ExecutionDependencies, "database">,
  principal: Principal,
  model: PublishedObject,
  name: string,
): Promise<PublishedObject> {
  const provider = plainText(model.value["provider"])
  const found = provider.startsWith(refPrefix)
    ? await readPublished(database, principal, provider)
    : await providerByDigest(database, model, name, provider)
  requireClass(found, "Provider")
  return found
}

async function providerByDigest(
  database: ExecutionDependencies["database"],
  model: PublishedObject,
  name: string,
  digest: string,
): Promise<PublishedObject> {
  const suffix = `-${providerObjectId(name)}`
  const providerId = model.name.endsWith(suffix) ? model.name.slice(0, -suffix.length) : ""
  if (providerId === "") throw unusable(model, "does not tell its provider: its object id is not <provider>-<model>")
  return publishedObject(database, model.project, providerId, digest)
}

/** Objects that were published without their class are not checked: anything may be where a text belongs. */
function plainText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "")
}

function requireClass(object: PublishedObject, wanted: string): void {
  if (object.leafClass === wanted) return
  throw unusable(object, `is of the class ${object.leafClass ?? "none"}, not ${wanted}`)
}

/** They would change where a request goes, how it is framed, or what a metadata service believes. */
const refusedHeaders =
  /^(?:host|content-length|transfer-encoding|connection|upgrade|te|trailer|expect|proxy-.*|metadata-flavor|metadata|x-aws-ec2-metadata-token(?:-ttl-seconds)?)$/i

/** @throws {HeddleError} `invalid_request` that names the header. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || refusedHeaders.test(name)) {
      throw new HeddleError("invalid_request", `the header "${name}" cannot be sent to a provider`)
    }
    if (!/^[\t\x20-\x7e]*$/.test(value)) {
      throw new HeddleError("invalid_request", `the value of the header "${name}" must be printable ASCII`)
    }
  }
}

function headersOf(provider: PublishedObject): Record<string, string> {
  const given = provider.value["extra_headers"]
  const texts = Object.entries(isJsonObject(given) ? given : {}).map(([name, value]) => [
    name.toLowerCase(),
    plainText(value),
  ])
  const headers = Object.fromEntries(texts) as Record<string, string>
  checkHeaders(headers)
  return headers
}

function unusable(object: PublishedObject, why: string): HeddleError {
  return new HeddleError(
    "invalid_request",
    `the object "${object.name}" ${why}; apply a runtime (PUT /v2/{entity}/{project}/runtimes/{name}) to make both`,
  )
}

/** The messages of a completion: those of a published prompt, then its own, with their variables filled in. */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { refPrefix } from "../../objects/refs/refs.ts"
import { publishedObject, readPublished } from "./published-object.ts"
import { fillMessage, type TemplateVariables } from "./template.ts"

interface MessageSource {
  prompt: string | null | undefined
  messages: readonly unknown[]
  variables: TemplateVariables
}

/** @throws {HeddleError} 400, 403, 404 for the prompt; 400 for a variable that is not there. */
export async function completionMessages(
  database: CatalogDatabase,
  principal: Principal,
  project: ProjectAccess,
  { prompt, messages, variables }: MessageSource,
): Promise<unknown[]> {
  const all = prompt ? [...(await promptMessages(database, principal, project, prompt)), ...messages] : messages
  if (Object.keys(variables).length === 0) return [...all]
  // An answer that is replayed may be JSON, whose braces are no places for variables.
  return all.map((message) =>
    isJsonObject(message) && message["role"] === "assistant" ? message : fillMessage(message, variables),
  )
}

/** `prompt`: a ref, or `name`, `name:version` of the project's own. */
export async function promptMessages(
  database: CatalogDatabase,
  principal: Principal,
  project: ProjectAccess,
  prompt: string,
): Promise<unknown[]> {
  const [name = "", version = "latest"] = prompt.split(":")
  const found = prompt.startsWith(refPrefix)
    ? await readPublished(database, principal, prompt)
    : await publishedObject(database, project, name, version)
  const messages = found.value["messages"]
  if (found.baseClass === "Prompt" || found.baseClass === "MessagesPrompt") {
    if (Array.isArray(messages)) return messages as unknown[]
  }
  throw new HeddleError(
    "invalid_request",
    `"${prompt}" is ${found.leafClass ?? "an object without a class"}, not a prompt with messages; publish a weave.MessagesPrompt`,
  )
}

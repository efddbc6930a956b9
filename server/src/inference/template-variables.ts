/** What a request says to the chat template beside its messages (inference-api 4). */
import { refused } from "./unsupported.ts"

/** What the server gives to the template itself, by the field of the request that it comes from. */
const ownFields = ["messages", "tools", "documents", "add_generation_prompt", "continue_final_message", "chat_template"]

/** What comes with the model, or belongs to the renderer. */
const notVariables = ["bos_token", "eos_token", "unk_token", "pad_token", "tokenize", "self"]

/** @throws {HeddleError} `invalid_request` for a name that the template has from elsewhere. */
export function templateVariables(given: Record<string, unknown> | null | undefined): Record<string, unknown> {
  for (const name of Object.keys(given ?? {})) {
    const param = `chat_template_kwargs.${name}`
    if (ownFields.includes(name)) throw refused(param, `give it as the field ${name} of the request`)
    if (notVariables.includes(name)) throw refused(param, "the model's own is used; leave it out")
  }
  return given ?? {}
}

/** What the SDK's `Content` says of its file, in `metadata.json`. It is a client's word: every field may be anything. */
import { isJsonObject } from "../json/parsed-json.ts"
import { typeOfName, usualType } from "./media-types.ts"

export interface ContentMetadata {
  name: string
  type: string
  /** In bytes; null: it does not say. */
  size: number | null
}

export function contentMetadata(text: string): ContentMetadata {
  const said = parsed(text)
  const { filename, mimetype, extension, size } = isJsonObject(said) ? said : {}
  const name = typeof filename === "string" ? filename : ""
  const type = typeof mimetype === "string" ? usualType(mimetype) : ""
  return {
    name,
    type: type === "" ? typeOfName(name === "" && typeof extension === "string" ? extension : name) : type,
    size: typeof size === "number" && Number.isSafeInteger(size) && size >= 0 ? size : null,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

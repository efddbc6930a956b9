/**
 * Recognises pictures, sounds, films and files in payloads: those that the Weave SDK stored as files, and those that
 * messages of OpenAI, Anthropic, Gemini and OpenTelemetry carry in themselves. What it finds is only described; nothing is
 * decoded or read.
 */
import { isJsonObject } from "../json/parsed-json.ts"
import { typeOfName, usualType } from "./media-types.ts"

export type MediaSource =
  /** A file of the project; the metadata, another one, says what its type and name are. */
  | { at: "file"; digest: string; metadata: string | null }
  /** Stored by a run of the wandb client. */
  | { at: "run"; run: { entity: string; project: string; run: string }; path: string }
  /** Of an artifact: its place below the server's root. */
  | { at: "artifact"; place: string }
  | { at: "data"; base64: string }
  | { at: "text"; text: string }
  /** Of another host: the page never loads it. */
  | { at: "link"; url: URL }

export interface Media {
  /** "" where nothing says it. */
  name: string
  /** "" where nothing says it. */
  type: string
  source: MediaSource
}

export interface PlacedMedia extends Media {
  /** "messages.0.content.1"; "" is the whole. */
  path: string
}

const mostFound = 60
const mostValues = 200_000
const deepest = 40

/** The media of a value, in their order, up to a bound. */
export function mediaIn(value: unknown): PlacedMedia[] {
  const found: PlacedMedia[] = []
  let left = mostValues
  const walk = (inner: unknown, path: string, depth: number) => {
    if (found.length >= mostFound || depth > deepest || left <= 0) return
    left -= 1
    const media = mediaOf(inner)
    if (media !== null)
      return void found.push(...media.slice(0, mostFound - found.length).map((one) => ({ ...one, path })))
    if (typeof inner !== "object" || inner === null) return
    const parts = Array.isArray(inner) ? inner.entries() : Object.entries(inner)
    for (const [key, part] of parts) walk(part, path === "" ? `${key}` : `${path}.${key}`, depth + 1)
  }
  walk(value, "", 0)
  return found
}

/** null: it is none itself, and may hold some. */
function mediaOf(value: unknown): Media[] | null {
  if (typeof value === "string") return listed(dataUrl(value))
  if (!isJsonObject(value)) return null
  if (value["_type"] === "CustomWeaveType") return stored(value)
  return listed(partOfMessage(value))
}

/** Files of the SDK that say something of the one beside them. */
const aboutOthers = new Set(["metadata.json", "_metadata.json"])

const listed = (media: Media | null) => (media === null ? null : [media])

function stored(value: Record<string, unknown>): Media[] | null {
  const weaveType = isJsonObject(value["weave_type"]) ? value["weave_type"]["type"] : null
  const files = isJsonObject(value["files"]) ? value["files"] : {}
  // An op is code, which has a view of its own.
  if (weaveType === "Op") return null
  const val = value["val"]
  if (weaveType === "rich.markdown.Markdown" && isJsonObject(val) && typeof val["markup"] === "string") {
    return [{ name: "", type: "text/markdown", source: { at: "text", text: val["markup"] } }]
  }
  const metadata = digestOf(files["metadata.json"])
  const media = Object.entries(files).flatMap(([name, file]): Media[] => {
    const digest = digestOf(file)
    if (digest === null || aboutOthers.has(name)) return []
    const isContent = name === "content"
    return [
      {
        name: isContent ? "" : name,
        type: typeOfName(name),
        source: { at: "file", digest, metadata: isContent ? metadata : null },
      },
    ]
  })
  return media.length === 0 ? null : media
}

function digestOf(value: unknown): string | null {
  return typeof value === "string" && /^[\w-]{1,100}$/.test(value) ? value : null
}

function partOfMessage(part: Record<string, unknown>): Media | null {
  const { type } = part
  if (type === "image_url" || type === "input_image") {
    const url = isJsonObject(part["image_url"]) ? part["image_url"]["url"] : part["image_url"]
    return linked(url, "image")
  }
  if (type === "input_audio" && isJsonObject(part["input_audio"])) {
    const { data, format } = part["input_audio"]
    return encoded(data, typeOfName(textOf(format)))
  }
  if (type === "file" || type === "input_file") {
    const file = isJsonObject(part["file"]) ? part["file"] : part
    const media = dataUrl(textOf(file["file_data"]))
    return media === null ? null : { ...media, name: textOf(file["filename"]) }
  }
  if ((type === "image" || type === "document") && isJsonObject(part["source"])) {
    const { source, title } = part
    const { type: way, media_type, data, url } = source
    const media =
      way === "url"
        ? linked(url, type)
        : way === "text" && typeof data === "string"
          ? { name: "", type: "text/plain", source: { at: "text" as const, text: data } }
          : encoded(data, media_type)
    return media === null ? null : { ...media, name: textOf(title) }
  }
  // Of OpenTelemetry's conventions.
  if (type === "blob") return encoded(part["content"], part["mime_type"])
  if (type === "uri") return linked(part["uri"], textOf(part["modality"]))
  return partOfGemini(part)
}

function partOfGemini(part: Record<string, unknown>): Media | null {
  const inline = part["inline_data"] ?? part["inlineData"]
  if (isJsonObject(inline)) return encoded(inline["data"], inline["mime_type"] ?? inline["mimeType"])
  const file = part["file_data"] ?? part["fileData"]
  if (isJsonObject(file)) return linked(file["file_uri"] ?? file["fileUri"], "file")
  // A picture that OpenAI made.
  return "b64_json" in part ? encoded(part["b64_json"], "image/png") : null
}

const dataHead = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w-]+=[\w."-]*){0,5};base64,/i
const longestHead = 300

function dataUrl(text: string): Media | null {
  if (!/^data:/i.test(text)) return null
  const [head, type = ""] = dataHead.exec(text.slice(0, longestHead)) ?? []
  return head === undefined ? null : encoded(text.slice(head.length), type)
}

function encoded(data: unknown, type: unknown): Media | null {
  if (typeof data !== "string" || data === "" || !/^[\w+/=\s-]*$/.test(data.slice(0, longestHead))) return null
  return { name: "", type: usualType(textOf(type)), source: { at: "data", base64: data } }
}

function linked(url: unknown, name: string): Media | null {
  if (typeof url !== "string") return null
  const media = dataUrl(url)
  if (media !== null) return media
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return null
  return { name, type: "", source: { at: "link", url: new URL(url) } }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}

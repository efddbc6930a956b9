/** What a file is to the page, by its type and its name. */
import type { ShownType } from "@heddle/server/wire/shown-type.ts"

export type MediaKind = "image" | "audio" | "video" | "markdown" | "text" | "file"

const endings = new Map<string, ShownType | "text/markdown" | "text/plain" | "application/pdf" | "text/html">([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
  ["avif", "image/avif"],
  ["bmp", "image/bmp"],
  ["svg", "image/svg+xml"],
  ["wav", "audio/wav"],
  ["mp3", "audio/mpeg"],
  ["ogg", "audio/ogg"],
  ["flac", "audio/flac"],
  ["m4a", "audio/mp4"],
  ["aac", "audio/aac"],
  ["mp4", "video/mp4"],
  ["webm", "video/webm"],
  ["mov", "video/quicktime"],
  ["md", "text/markdown"],
  ["txt", "text/plain"],
  ["html", "text/html"],
  ["pdf", "application/pdf"],
])

const otherNames = new Map<string, ShownType>([
  ["image/jpg", "image/jpeg"],
  ["audio/x-wav", "audio/wav"],
  ["audio/wave", "audio/wav"],
  ["audio/vnd.wave", "audio/wav"],
  ["audio/mp3", "audio/mpeg"],
  ["audio/x-m4a", "audio/mp4"],
  ["audio/x-flac", "audio/flac"],
])

const shown = new Set<string>([...endings.values(), "audio/webm", "video/ogg"])
/** Read as text: what it would do as a page never happens. */
const texts = /^(?:text\/.+|application\/(?:json|xml|yaml|x-yaml|javascript|x-ndjson|xhtml\+xml))$/

/** "" for a name without an ending that is known. */
export function typeOfName(name: string): string {
  return endings.get(name.slice(name.lastIndexOf(".") + 1).toLowerCase()) ?? ""
}

/** In small letters, without parameters, under the name that is usual. */
export function usualType(type: string): string {
  const plain = (type.split(";", 1)[0] ?? "").trim().toLowerCase()
  return otherNames.get(plain) ?? plain
}

/** null: a browser shows no file of this type, or it could run. */
export function shownType(type: string): ShownType | null {
  return shown.has(type) && /^(?:image|audio|video)\//.test(type) ? (type as ShownType) : null
}

export function kindOf(type: string): MediaKind {
  if (shownType(type) !== null) return type.slice(0, type.indexOf("/")) as MediaKind
  if (type === "text/markdown") return "markdown"
  return texts.test(type) ? "text" : "file"
}

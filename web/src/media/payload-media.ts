/** The media of a payload's text, which is parsed only where it can hold some and is not too large. */
import type { JsonText } from "../json/json-text.ts"
import { type Media, mediaIn, type PlacedMedia } from "./media.ts"

/** To parse more would stop the page. */
const largestPayload = 10_000_000

/** What a text with media in it has somewhere. */
const marks =
  /"CustomWeaveType"|;base64,|"(?:image_url|input_audio|inline_?[dD]ata|file_?[dD]ata|b64_json|base64|blob|uri|url)"/

/** null: there may be some, and the text is too large to look. */
export function mediaOfText(text: JsonText): PlacedMedia[] | null {
  if (!marks.test(text)) return []
  return text.length > largestPayload ? null : mediaIn(JSON.parse(text))
}

/** Longer than what the SDK stores for one file: the cell is more than that. */
const longestCell = 2000

/** The one thing that a cell of a table is; null: it is something else. */
export function mediaOfCell(text: JsonText): Media | null {
  if (text.length > longestCell || !text.includes('"CustomWeaveType"')) return null
  const [media] = mediaIn(JSON.parse(text))
  return media?.path === "" ? media : null
}

/** What stands in a row of a JSON tree, and below the row of a long string what it says. */
import { ChevronDown, ChevronRight } from "lucide-react"
import { formatCount } from "../../format/numbers.ts"
import type { JsonNode } from "../../json/json-document.ts"
import { isContainer, type JsonRow } from "../../json/json-tree.ts"
import { inOneLine, textOf } from "../../json/long-texts.ts"
import { Icon } from "../signs/icon.tsx"
import styles from "./json-viewer.module.css"

/** `isOpen` is undefined where there is nothing to be opened. */
export function NodeRow({ node, isOpen }: { node: JsonNode; isOpen: boolean | undefined }) {
  const { key, kind, size, preview, isCut } = node
  return (
    <>
      <span className={styles.arrow}>
        {isOpen !== undefined && <Icon of={isOpen ? ChevronDown : ChevronRight} size={12} />}
      </span>
      {key !== null && <span className={typeof key === "number" ? styles.index : styles.key}>{key}</span>}
      {key !== null && <span className={styles.colon}>: </span>}
      {isContainer(node) ? (
        <span className={styles.size}>
          {kind === "object" ? `{ ${formatCount(size)} }` : `[ ${formatCount(size)} ]`}
          {isOpen !== true && <span className={styles.inner}> {preview}</span>}
        </span>
      ) : (
        <span className={styles[kind]}>
          {kind === "string" ? `"${inOneLine(preview)}` : preview}
          {kind === "string" && !isCut && '"'}
          {isCut && "…"}
        </span>
      )}
    </>
  )
}

export function MoreRow({ from, count, isBefore }: Extract<JsonRow, { kind: "more" }>) {
  return (
    <span className={styles.more}>
      {isBefore ? `… ${formatCount(from + count)} before` : `… ${formatCount(count)} more`}
    </span>
  )
}

const lineHeight = 20
const padding = 12
const mostLines = 16
/** Letters of a line, about; what takes more room scrolls. */
const lettersOfLine = 90

/** Pixels of {@link LongText}, which rows below it need to know before it is drawn. */
export function textHeight(json: string, node: JsonNode): number {
  const { text } = textOf(json, node)
  let lines = 0
  for (const line of text.slice(0, mostLines * lettersOfLine).split("\n")) {
    lines += Math.max(1, Math.ceil(line.length / lettersOfLine))
  }
  return Math.min(mostLines, lines) * lineHeight + padding
}

/** The string as it reads. It is selected with the pointer, and scrolls by itself. */
export function LongText({ json, node }: { json: string; node: JsonNode }) {
  const { text, isWhole } = textOf(json, node)
  return (
    <div className={styles.text} style={{ height: textHeight(json, node) }} dir="auto" tabIndex={0}>
      {text}
      {!isWhole && <p className={styles.more}>Only the beginning is shown; copying takes all of it.</p>}
    </div>
  )
}

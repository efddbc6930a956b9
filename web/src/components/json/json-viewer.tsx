/**
 * A JSON text as a tree that is read as it is opened. Numbers stand as they were written. Only the rows that are seen are
 * drawn, so the browser's own search finds only those: the viewer has one of its own.
 */
import { useVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useRef, useState } from "react"
import type { JsonNode } from "../../json/json-document.ts"
import { type JsonSource, openJson } from "../../json/json-source.ts"
import { isContainer, type JsonRow, type OpenPart, pageSize, rowsOf, withPage } from "../../json/json-tree.ts"
import { isLongText, type TextRow, withTexts } from "../../json/long-texts.ts"
import { classNames } from "../class-names.ts"
import { CopyButton } from "../controls/copy-button.tsx"
import { Note } from "../states/note.tsx"
import { SkeletonRows } from "../states/skeleton.tsx"
import { JsonFind } from "./json-find.tsx"
import { LongText, MoreRow, NodeRow, textHeight } from "./json-row.tsx"
import styles from "./json-viewer.module.css"

interface JsonViewerProps {
  /** Name of the value for screen readers: "Input". */
  label: string
  text: string
  /** Height of what scrolls; by default all that there is room for. */
  height?: number
}

const rowHeight = 22
const indent = 16

export function JsonViewer({ label, text, height }: JsonViewerProps) {
  const [opened, setOpened] = useState<{ source: JsonSource; number: number } | null>(null)
  // The worker that may read it.
  useEffect(() => {
    const source = openJson(text)
    // oxlint-disable-next-line react/set-state-in-effect -- the worker begins and ends with the effect
    setOpened((before) => ({ source, number: (before?.number ?? 0) + 1 }))
    return () => source.close()
  }, [text])
  if (opened === null) return null
  // Another text is another tree: nothing of what was open stays.
  return <OpenViewer key={opened.number} source={opened.source} label={label} text={text} height={height} />
}

interface OpenViewerProps extends Omit<JsonViewerProps, "height"> {
  source: JsonSource
  height: number | undefined
}

function OpenViewer({ source, label, text, height }: OpenViewerProps) {
  const tree = useJsonTree(source)
  const box = useRef<HTMLDivElement>(null)
  const rows = tree.root === null ? [] : withTexts(rowsOf(tree.root, tree.open), tree.openTexts)
  // oxlint-disable-next-line react/incompatible-library -- the compiler leaves this component alone
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => {
      const row = rows[index]
      return row?.kind === "text" ? textHeight(text, row.node) : rowHeight
    },
    overscan: 12,
  })
  const [current, setCurrent] = useState(0)
  const id = useId()

  const show = (index: number) => {
    const next = Math.min(rows.length - 1, Math.max(0, index))
    setCurrent(next)
    virtual.scrollToIndex(next)
  }
  const press = (event: KeyboardEvent) => {
    const row = rows[current]
    if (row === undefined) return
    const moves: Record<string, () => void> = {
      ArrowDown: () => show(current + 1),
      ArrowUp: () => show(current - 1),
      Home: () => show(0),
      End: () => show(rows.length - 1),
      ArrowRight: () => (tree.isOpen(row) === false ? tree.toggle(row) : show(current + 1)),
      ArrowLeft: () => (tree.isOpen(row) === true ? tree.toggle(row) : show(parentOf(rows, current))),
      Enter: () => tree.toggle(row),
      " ": () => tree.toggle(row),
    }
    const move = moves[event.key]
    if (move === undefined || event.target !== event.currentTarget) return
    event.preventDefault()
    move()
  }
  const reveal = async (place: number) => {
    const wanted = await tree.reveal(place)
    const index = withTexts(rowsOf(wanted.root, wanted.open), wanted.openTexts).findIndex(
      (row) => row.kind === "node" && row.node.start === wanted.start,
    )
    // After the rows are there.
    requestAnimationFrame(() => {
      setCurrent(index)
      virtual.scrollToIndex(index, { align: "center" })
    })
  }

  if (tree.error !== null) {
    return (
      <Note
        kind="warn"
        title={
          tree.error instanceof SyntaxError
            ? "This is no JSON that can be shown as a tree."
            : `${label} could not be read as a tree.`
        }
      >
        {tree.error.message}. <CopyButton text={text} label={`Copy ${label}`} isWordy />
      </Note>
    )
  }
  if (tree.root === null) return <SkeletonRows what={`Reading ${label}`} rows={3} />
  return (
    <div className={styles.viewer} style={height === undefined ? undefined : { height }}>
      <div className={styles.head}>
        <JsonFind source={source} label={label} onReveal={(place) => void reveal(place)} />
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
      <div
        ref={box}
        className={styles.scroll}
        role="tree"
        aria-label={label}
        tabIndex={0}
        aria-activedescendant={`${id}-${current}`}
        onKeyDown={press}
      >
        <div className={styles.rows} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index]
            return row === undefined ? null : (
              // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the tree has the focus and the keys
              <div
                key={index}
                id={`${id}-${index}`}
                className={classNames(styles.row, index === current && styles.current)}
                style={{ transform: `translateY(${start}px)`, paddingLeft: 8 + row.depth * indent }}
                role="treeitem"
                aria-level={row.depth + 1}
                aria-expanded={tree.isOpen(row)}
                aria-selected={index === current}
                onClick={() => {
                  setCurrent(index)
                  tree.toggle(row)
                }}
              >
                {row.kind === "node" ? (
                  <NodeRow node={row.node} isOpen={tree.isOpen(row)} />
                ) : row.kind === "text" ? (
                  <LongText json={text} node={row.node} />
                ) : (
                  <MoreRow {...row} />
                )}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

/** The row that holds this one. */
function parentOf(rows: readonly (JsonRow | TextRow)[], index: number): number {
  const depth = rows[index]?.depth ?? 0
  for (let above = index - 1; above >= 0; above -= 1) if ((rows[above]?.depth ?? 0) < depth) return above
  return index
}

function useJsonTree(source: JsonSource) {
  const [root, setRoot] = useState<JsonNode | null>(null)
  const [open, setOpen] = useState<ReadonlyMap<number, OpenPart>>(new Map())
  /** Where the long strings begin that are open. */
  const [openTexts, setOpenTexts] = useState<ReadonlySet<number>>(new Set())
  const [error, setError] = useState<Error | null>(null)

  const read = useEffectEvent(async (from: JsonSource) => {
    try {
      const node = await from.root()
      setRoot(node)
      // What is one text and nothing else is there to be read.
      if (isLongText(node)) setOpenTexts(new Set([node.start]))
      if (!isContainer(node)) return
      setOpen(new Map([[node.start, { from: 0, children: await from.children(node.start, 0, pageSize) }]]))
    } catch (failure) {
      setError(failure as Error)
    }
  })
  // The document, which a worker may read.
  useEffect(() => {
    // oxlint-disable-next-line react/set-state-in-effect -- what is shown comes from the worker
    void read(source)
  }, [source])

  const addPage = async (node: JsonNode, from: number, count: number) => {
    const children = await source.children(node.start, from, count)
    setOpen((before) => new Map(before).set(node.start, withPage(before.get(node.start), from, children)))
  }
  const toggle = (row: JsonRow | TextRow) => {
    if (row.kind === "more") return void addPage(row.container, row.from, Math.min(row.count, pageSize))
    if (row.kind === "text") return
    if (isLongText(row.node)) return setOpenTexts((before) => before.symmetricDifference(new Set([row.node.start])))
    if (!isContainer(row.node)) return
    if (!row.isOpen) return void addPage(row.node, 0, pageSize)
    setOpen((before) => {
      const after = new Map(before)
      after.delete(row.node.start)
      return after
    })
  }
  /** Opens the way to a place of the text; answers what is open then, and where the innermost value begins. */
  const reveal = async (place: number) => {
    if (root === null) throw new Error("nothing is read yet")
    const next = new Map(open)
    let start = root.start
    for (const step of await source.wayTo(place)) {
      const part = next.get(step.start)
      const isShown = part !== undefined && step.index >= part.from && step.index < part.from + part.children.length
      const from = Math.floor(step.index / pageSize) * pageSize
      const shown = isShown ? part : { from, children: await source.children(step.start, from, pageSize) }
      next.set(step.start, shown)
      start = shown.children[step.index - shown.from]?.start ?? start
    }
    setOpen(next)
    return { root, open: next, openTexts, start }
  }
  /** undefined: there is nothing in it to be opened. */
  const isOpen = (row: JsonRow | TextRow): boolean | undefined => {
    if (row.kind !== "node") return undefined
    if (isLongText(row.node)) return openTexts.has(row.node.start)
    return isContainer(row.node) ? row.isOpen : undefined
  }
  return { root, open, openTexts, error, isOpen, toggle, reveal }
}

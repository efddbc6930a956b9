/** The four envelopes in which calls are written: evaluation-store-calls 2.2. */
import { isUtf8 } from "node:buffer"
import { HeddleError, type ValidationIssue } from "../../errors.ts"
import { JsonScanner } from "../../json/json-scanner.ts"
import { KeyTable } from "../../json/key-table.ts"
import type { CallForm } from "./call-fields.ts"
import { addIssue, type CallItem, issue, type Location, maximumIssues, notAnObject, readCallItem } from "./call-item.ts"

export interface CallBody {
  bytes: Buffer
  items: CallItem[]
  /** Whether a payload may hold `NaN`, `Infinity` or `-Infinity`. */
  holdsNotFinite: boolean
}

/** How calls are wrapped in a body. */
export type CallEnvelope = "start" | "end" | "complete" | "upsert"

/** @throws {HeddleError} 400, 413, 422. */
export function readCalls(bytes: Buffer, envelope: CallEnvelope): CallBody {
  if (envelope === "complete") return readCompleteCalls(bytes)
  return envelope === "upsert" ? readUpsertBatch(bytes) : readSingleCall(bytes, envelope)
}

type ReadItems = (scanner: JsonScanner, items: CallItem[], issues: ValidationIssue[]) => void

/** `{"start": …}` or `{"end": …}`. */
function readSingleCall(bytes: Buffer, form: "start" | "end"): CallBody {
  return read(bytes, (scanner, items, issues) =>
    readMember(scanner, form, issues, () => {
      issues.length = 0
      items[0] = readCallItem(scanner, form, ["body", form], issues)
    }),
  )
}

/** `{"batch": [complete call, …]}`. */
function readCompleteCalls(bytes: Buffer): CallBody {
  return read(bytes, (scanner, items, issues) =>
    readBatch(scanner, items, issues, (location) => {
      items.push(readCallItem(scanner, "complete", location, issues))
    }),
  )
}

/**
 * `{"batch": [{"mode": "start", "req": {"start": …}} or {"mode": "end", "req": {"end": …}}, …]}`.
 * @throws {HeddleError} 400, 413, 422.
 */
function readUpsertBatch(bytes: Buffer): CallBody {
  return read(bytes, (scanner, items, issues) =>
    readBatch(scanner, items, issues, (location) => {
      const item = readUpsertItem(scanner, location, issues)
      if (item !== null) items.push(item)
    }),
  )
}

function read(bytes: Buffer, readItems: ReadItems): CallBody {
  if (!isUtf8(bytes)) throw new HeddleError("bad_request", "the request body is not JSON: it is not UTF-8 text")
  const scanner = new JsonScanner(bytes)
  const items: CallItem[] = []
  const issues: ValidationIssue[] = []
  readItems(scanner, items, issues)
  scanner.end()
  refuseIssues(issues)
  refuseInternalRefs(bytes)
  return { bytes, items, holdsNotFinite: scanner.sawNotFinite }
}

/** @throws {HeddleError} `validation_error` when there are any. */
export function refuseIssues(issues: readonly ValidationIssue[]): void {
  const [first] = issues
  if (first === undefined) return
  const message = `${first.loc.join(".")}: ${first.msg}`
  throw new HeddleError("validation_error", message, { issues: issues.slice(0, maximumIssues) })
}

const backslash = 0x5c
/** How refs are written inside the reference server; from outside they would name things of other teams. */
const internalRef = Buffer.from('"weave-trace-internal:///')

/** @throws {HeddleError} `invalid_external_ref` */
export function refuseInternalRefs(bytes: Buffer): void {
  for (let at = bytes.indexOf(internalRef); at !== -1; at = bytes.indexOf(internalRef, at + 1)) {
    // An escaped quote is within a text that only speaks of such a ref.
    if (bytes[at - 1] === backslash) continue
    const excerpt = bytes.toString("utf8", at + 1, Math.min(bytes.indexOf('"', at + 1), at + 200))
    const message = `"${excerpt}" is not a ref that clients may use; send weave:///entity/project/…`
    throw new HeddleError("invalid_external_ref", message)
  }
}

const bodyKeys = {
  start: new KeyTable(["start"]),
  end: new KeyTable(["end"]),
  batch: new KeyTable(["batch"]),
}
const itemKeys = new KeyTable(["mode", "req"])
const requestKeys = new KeyTable(["start", "end"])

/** Consumes the body and calls `take` at the value of its member `name`; of equal keys the last one counts. */
function readMember(
  scanner: JsonScanner,
  name: keyof typeof bodyKeys,
  issues: ValidationIssue[],
  take: () => void,
): void {
  const found = readMembers(scanner, ["body"], issues, bodyKeys[name], [take])
  if (found !== null && found.size === 0) addIssue(issues, issue(["body", name], "missing", "Field required"))
}

/** Returns the indexes of the keys that were there; for a value that is no object it adds an issue and returns null. */
function readMembers(
  scanner: JsonScanner,
  location: Location,
  issues: ValidationIssue[],
  keys: KeyTable,
  takers: readonly (() => void)[],
): Set<number> | null {
  if (!scanner.isObject()) {
    scanner.skip()
    addIssue(issues, notAnObject(location))
    return null
  }
  const found = new Set<number>()
  if (!scanner.enterObject()) return found
  do {
    const key = scanner.keyIn(keys)
    const take = takers[key]
    if (take === undefined) scanner.skip()
    else {
      found.add(key)
      take()
    }
  } while (scanner.nextMember())
  return found
}

function readBatch(
  scanner: JsonScanner,
  items: CallItem[],
  issues: ValidationIssue[],
  takeItem: (location: Location) => void,
): void {
  readMember(scanner, "batch", issues, () => {
    issues.length = 0
    items.length = 0
    if (!scanner.isArray()) {
      scanner.skip()
      addIssue(issues, issue(["body", "batch"], "list_type", "Input should be a valid list"))
      return
    }
    if (!scanner.enterArray()) return
    let index = 0
    do takeItem(["body", "batch", index++])
    while (scanner.nextElement())
  })
}

/** Adds an issue and returns null when something is amiss. */
function readUpsertItem(scanner: JsonScanner, location: Location, issues: ValidationIssue[]): CallItem | null {
  let mode: string | null = null
  const found: Partial<Record<CallForm, CallItem>> = {}
  const request = [...location, "req"]
  const takeForm = (form: "start" | "end") => () => {
    found[form] = readCallItem(scanner, form, [...request, form], issues)
  }
  const takeMode = () => {
    mode = readMode(scanner)
  }
  const takeRequest = () => readMembers(scanner, request, issues, requestKeys, [takeForm("start"), takeForm("end")])
  const members = readMembers(scanner, location, issues, itemKeys, [takeMode, takeRequest])
  if (members === null) return null
  if (!members.has(1)) {
    addIssue(issues, issue(request, "missing", "Field required"))
    return null
  }
  const form = mode ?? (found.end === undefined ? "start" : "end")
  if (form !== "start" && form !== "end") throw unknownMode(form, location)
  const item = found[form]
  if (item === undefined) addIssue(issues, issue([...request, form], "missing", "Field required"))
  return item ?? null
}

/** The text of the mode, quotes off; null stands for an absent one. */
function readMode(scanner: JsonScanner): string | null {
  scanner.peek()
  const start = scanner.at
  scanner.skip()
  const token = scanner.bytes.toString("utf8", start, scanner.at)
  if (token === "null") return null
  return token.startsWith('"') ? (JSON.parse(token) as string) : token
}

function unknownMode(mode: string, location: Location): HeddleError {
  const place = location.slice(1).join(".")
  return new HeddleError("value_error", `${place}: Invalid mode "${mode.slice(0, 100)}"; it is "start" or "end"`)
}

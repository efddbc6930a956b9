/** Checks the JSON of an export request and finds its resources, without making values of anything else. */
import { isUtf8 } from "node:buffer"
import { HeddleError } from "../../../errors.ts"
import { withoutNotFinite } from "../../../json/json-parts.ts"
import { JsonScanner } from "../../../json/json-scanner.ts"
import { KeyTable } from "../../../json/key-table.ts"
import { JsonMessage, jsonResource } from "./otlp-json.ts"
import { emptyResource, type Resource } from "../trace-request.ts"

export interface ScannedRequest {
  text: string
  /** Those that can be read; the others are refused when all of the request is. */
  resources: Resource[]
}

/** `name`: of the list whose elements have resources. @throws {JsonTextError} not JSON, or nested too deep. */
export function scanRequest(bytes: Buffer, name: string): ScannedRequest {
  if (!isUtf8(bytes)) throw new HeddleError("bad_request", "the request body is not JSON: it is not UTF-8 text")
  const scanner = new JsonScanner(bytes)
  if (scanner.peek() === -1) return { text: "", resources: [] }
  const lists = listKeys(name)
  const found: Resource[][] = [[], []]
  eachMember(scanner, lists, (key) => {
    found[key] = resourcesOf(scanner)
  })
  scanner.end()
  const text = bytes.toString("utf8")
  const [ofName = [], ofSnake = []] = found
  return { text: scanner.sawNotFinite ? withoutNotFinite(text) : text, resources: ofName.length > 0 ? ofName : ofSnake }
}

const resourceKey = new KeyTable(["resource"])

/** Names in snake_case are read too. */
function listKeys(name: string): KeyTable {
  return new KeyTable([name, name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)])
}

function resourcesOf(scanner: JsonScanner): Resource[] {
  const resources: Resource[] = []
  if (!scanner.isArray()) {
    scanner.skip()
    return resources
  }
  if (!scanner.enterArray()) return resources
  do {
    let resource = emptyResource()
    eachMember(scanner, resourceKey, () => {
      resource = readResource(scanner)
    })
    resources.push(resource)
  } while (scanner.nextElement())
  return resources
}

/** Consumes a value and calls `take` at those of its members that the table has; a value that is no object has none. */
function eachMember(scanner: JsonScanner, keys: KeyTable, take: (key: number) => void): void {
  if (!scanner.isObject()) return scanner.skip()
  if (!scanner.enterObject()) return
  do {
    const key = scanner.keyIn(keys)
    if (key === -1) scanner.skip()
    else take(key)
  } while (scanner.nextMember())
}

function readResource(scanner: JsonScanner): Resource {
  scanner.peek()
  const start = scanner.at
  scanner.skip()
  const text = withoutNotFinite(scanner.bytes.toString("utf8", start, scanner.at))
  try {
    return jsonResource(JsonMessage.of(JSON.parse(text), ""))
  } catch (error) {
    if (error instanceof HeddleError) return emptyResource()
    throw error
  }
}

/**
 * What requests of traces and of logs share: items under the scope that made them, under the resource
 * that runs it. The names differ, the numbers of the fields do not.
 */
import { type JsonMessage, jsonResource, jsonScope } from "./otlp-json.ts"
import { field, readResource, readScope } from "./protobuf-fields.ts"
import { ProtobufReader, TooManyMessagesError } from "./protobuf-reader.ts"
import { emptyResource, emptyScope, type Resource, type Scope } from "./trace-request.ts"

export interface ResourceItems<T> {
  resource: Resource
  scopes: { scope: Scope; items: T[] }[]
}

/** Of one request: a row for each is more than the bytes that may have told of it. */
export const maximumItems = 100_000

class ItemCount {
  readonly #what: string
  #count = 0

  /** `what`: the items, in the plural. */
  constructor(what: string) {
    this.#what = what
  }

  add(items: number): void {
    this.#count += items
    if (this.#count > maximumItems) {
      throw new TooManyMessagesError(`the request has more than ${maximumItems} ${this.#what}`)
    }
  }
}

const tags = { outer: field(1).bytes, inner: field(2).bytes }

/** @throws {ProtobufError} */
export function readProtobufItems<T>(
  bytes: Buffer,
  what: string,
  readItem: (reader: ProtobufReader) => T,
): ResourceItems<T>[] {
  const reader = new ProtobufReader(bytes)
  const count = new ItemCount(what)
  const all: ResourceItems<T>[] = []
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === tags.outer) all.push(reader.message((inner) => ofResource(inner, count, readItem)))
    else reader.skip(tag)
  }
  return all
}

type ReadItem<T> = (reader: ProtobufReader) => T

function ofResource<T>(reader: ProtobufReader, count: ItemCount, readItem: ReadItem<T>): ResourceItems<T> {
  const result: ResourceItems<T> = { resource: emptyResource(), scopes: [] }
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === tags.outer) result.resource = reader.message(readResource)
    else if (tag === tags.inner) result.scopes.push(reader.message((inner) => ofScope(inner, count, readItem)))
    else reader.skip(tag)
  }
  return result
}

function ofScope<T>(reader: ProtobufReader, count: ItemCount, readItem: ReadItem<T>): { scope: Scope; items: T[] } {
  const result: { scope: Scope; items: T[] } = { scope: emptyScope(), items: [] }
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === tags.outer) result.scope = reader.message(readScope)
    else if (tag === tags.inner) {
      count.add(1)
      result.items.push(reader.message(readItem))
    } else reader.skip(tag)
  }
  return result
}

export interface ItemNames {
  resources: string
  scopes: string
  items: string
  /** In words. */
  what: string
}

/** @throws {HeddleError} `bad_request` that names the place and the value. */
export function readJsonItems<T>(
  request: JsonMessage,
  names: ItemNames,
  readItem: (message: JsonMessage) => T,
): ResourceItems<T>[] {
  const count = new ItemCount(names.what)
  return request.list(names.resources, (ofOne) => ({
    resource: ofOne.message("resource", jsonResource, emptyResource),
    scopes: ofOne.list(names.scopes, (inner) => {
      count.add(inner.elements(names.items).length)
      return { scope: inner.message("scope", jsonScope, emptyScope), items: inner.list(names.items, readItem) }
    }),
  }))
}

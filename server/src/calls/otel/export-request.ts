/**
 * What requests of traces and of logs share: items under the scope that made them, under the resource
 * that runs it. The names differ, the numbers of the fields do not.
 */
import { type JsonMessage, jsonResource, jsonScope } from "./otlp/otlp-json.ts"
import { field, readResource, readScope } from "./otlp/protobuf-fields.ts"
import { ProtobufReader, TooManyMessagesError } from "./otlp/protobuf-reader.ts"
import { emptyResource, emptyScope, type Resource, type Scope } from "./trace-request.ts"

export interface ResourceItems<T> {
  resource: Resource
  scopes: { scope: Scope; items: T[] }[]
}

export interface ItemKind {
  /** Names in JSON. */
  resources: string
  scopes: string
  items: string
  /** In words, in the plural. */
  what: string
  /** Limit on the rows of one request: each takes more memory than the bytes that named it. */
  most: number
}

class ItemCount {
  readonly #kind: ItemKind
  #count = 0

  constructor(kind: ItemKind) {
    this.#kind = kind
  }

  add(items: number): void {
    const { most, what } = this.#kind
    this.#count += items
    if (this.#count > most) throw new TooManyMessagesError(`the request has more than ${most} ${what}`)
  }
}

const tags = { outer: field(1).bytes, inner: field(2).bytes }

/** @throws {ProtobufError} */
export function readProtobufItems<T>(
  bytes: Buffer,
  kind: ItemKind,
  readItem: (reader: ProtobufReader) => T,
): ResourceItems<T>[] {
  const reader = new ProtobufReader(bytes)
  const count = new ItemCount(kind)
  const all: ResourceItems<T>[] = []
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === tags.outer) all.push(reader.message((inner) => ofResource(inner, count, readItem)))
    else reader.skip(tag)
  }
  return all
}

/** The resources of a request and nothing else of it, which is passed over. @throws {ProtobufError} */
export function readProtobufResources(bytes: Buffer): Resource[] {
  const reader = new ProtobufReader(bytes)
  const resources: Resource[] = []
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === tags.outer) resources.push(reader.message(onlyResource))
    else reader.skip(tag)
  }
  return resources
}

function onlyResource(reader: ProtobufReader): Resource {
  let resource = emptyResource()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === tags.outer) resource = reader.message(readResource)
    else reader.skip(tag)
  }
  return resource
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

/** @throws {HeddleError} `bad_request` that names the place and the value. */
export function readJsonItems<T>(
  request: JsonMessage,
  kind: ItemKind,
  readItem: (message: JsonMessage) => T,
): ResourceItems<T>[] {
  const count = new ItemCount(kind)
  return request.list(kind.resources, (ofOne) => ({
    resource: ofOne.message("resource", jsonResource, emptyResource),
    scopes: ofOne.list(kind.scopes, (inner) => {
      count.add(inner.elements(kind.items).length)
      return { scope: inner.message("scope", jsonScope, emptyScope), items: inner.list(kind.items, readItem) }
    }),
  }))
}

/** Protobuf fields shared by traces and logs: opentelemetry/proto/common/v1 and resource/v1. */
import { type AnyValue, type KeyValue, KeyValueList, maximumValueDepth, ValueTooDeepError } from "./any-value.ts"
import type { ProtobufReader } from "./protobuf-reader.ts"
import { emptyResource, emptyScope, type Resource, type Scope } from "../trace-request.ts"

/** `field(n).bytes`: how field n of that wire type is announced. */
export const field = (number: number) => ({
  varint: number * 8,
  fixed64: number * 8 + 1,
  bytes: number * 8 + 2,
  fixed32: number * 8 + 5,
})

const keyValueTags = { key: field(1).bytes, value: field(2).bytes }
const valueTags = {
  string: field(1).bytes,
  bool: field(2).varint,
  int: field(3).varint,
  double: field(4).fixed64,
  array: field(5).bytes,
  list: field(6).bytes,
  bytes: field(7).bytes,
}
const elementTag = field(1).bytes

export function readKeyValue(reader: ProtobufReader, depth = 0): KeyValue {
  let key = ""
  let value: AnyValue = null
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === keyValueTags.key) key = reader.text()
    else if (tag === keyValueTags.value) value = reader.message((inner) => readValue(inner, depth + 1))
    else reader.skip(tag)
  }
  return { key, value }
}

/** @throws {ValueTooDeepError} */
export function readValue(reader: ProtobufReader, depth: number): AnyValue {
  if (depth > maximumValueDepth) throw new ValueTooDeepError()
  let value: AnyValue = null
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === valueTags.string) value = reader.text()
    else if (tag === valueTags.int) value = reader.int64()
    else if (tag === valueTags.double) value = reader.double()
    else if (tag === valueTags.bool) value = reader.boolean()
    else if (tag === valueTags.array) value = reader.message((inner) => readElements(inner, depth))
    else if (tag === valueTags.list) value = new KeyValueList(reader.message((inner) => readEntries(inner, depth)))
    else if (tag === valueTags.bytes) value = reader.bytes()
    else reader.skip(tag)
  }
  return value
}

function readElements(reader: ProtobufReader, depth: number): AnyValue[] {
  const elements: AnyValue[] = []
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === elementTag) elements.push(reader.message((inner) => readValue(inner, depth + 1)))
    else reader.skip(tag)
  }
  return elements
}

function readEntries(reader: ProtobufReader, depth: number): KeyValue[] {
  const entries: KeyValue[] = []
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === elementTag) entries.push(reader.message((inner) => readKeyValue(inner, depth)))
    else reader.skip(tag)
  }
  return entries
}

const resourceTags = { attributes: field(1).bytes, dropped: field(2).varint }

export function readResource(reader: ProtobufReader): Resource {
  const resource = emptyResource()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === resourceTags.attributes) resource.attributes.push(reader.message(readKeyValue))
    else if (tag === resourceTags.dropped) resource.droppedAttributesCount = reader.uint32()
    else reader.skip(tag)
  }
  return resource
}

const scopeTags = { name: field(1).bytes, version: field(2).bytes, attributes: field(3).bytes }

export function readScope(reader: ProtobufReader): Scope {
  const scope = emptyScope()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === scopeTags.name) scope.name = reader.text()
    else if (tag === scopeTags.version) scope.version = reader.text()
    else if (tag === scopeTags.attributes) scope.attributes.push(reader.message(readKeyValue))
    else reader.skip(tag)
  }
  return scope
}

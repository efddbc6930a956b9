/** Bodies of batches of calls, made once and sent many times with ids of their own. */
import { type BenchCall, callsPerTrace } from "./call-corpus.ts"
import { callIds, type IdKind } from "./call-ids.ts"
import { traceRequest } from "./otlp-spans.ts"

export interface CallBatch {
  contentType: string
  bytes: Buffer
  /** Bytes of attributes, inputs, output and summary as JSON. */
  payloadBytes: number
  /** A copy in which every id is new; `sequence` counts the batches of a run. */
  fresh(sequence: number): Buffer
}

/** Offset of an id in the body, and its owner: call `place` of trace `trace`, or with `place` null the trace itself. */
interface IdPlace {
  at: number
  trace: number
  place: number | null
}

/** Markers begin with a sign that no word of the corpus has there. */
const callMarker = "~call"
const traceMarker = "~trace"

const traceOf = (index: number) => Math.floor(index / callsPerTrace)
const digits = (value: number, count: number) => String(value).padStart(count, "0")

/** Text that stands for an id until a copy is made: as long as an id, it names the call of the trace. */
const markedCall = (trace: number, place: number, length: number) =>
  `${callMarker}${digits(trace, 6)}${digits(place, 4)}`.padEnd(length, "0")
const markedTrace = (trace: number, length: number) => `${traceMarker}${digits(trace, 6)}`.padEnd(length, "0")

function markedPlaces(bytes: Buffer): IdPlace[] {
  const found = (marker: string, read: (at: number) => Omit<IdPlace, "at">) => {
    const places: IdPlace[] = []
    for (let at = bytes.indexOf(marker); at !== -1; at = bytes.indexOf(marker, at + 1)) places.push({ at, ...read(at) })
    return places
  }
  const number = (from: number, length: number) => Number(bytes.toString("latin1", from, from + length))
  return [
    ...found(callMarker, (at) => ({ trace: number(at + 5, 6), place: number(at + 11, 4) })),
    ...found(traceMarker, (at) => ({ trace: number(at + 6, 6), place: null })),
  ]
}

const payloadBytesOf = (calls: readonly BenchCall[]) =>
  calls
    .flatMap(({ attributes, inputs, output, summary }) => [attributes, inputs, output, summary])
    .reduce((sum, payload) => sum + Buffer.byteLength(JSON.stringify(payload)), 0)

/** The body of `/v2/{entity}/{project}/calls/complete`, with every field that the Python client sends. */
export function weaveBatch(calls: readonly BenchCall[], project: string, kind: IdKind): CallBatch {
  const ids = callIds[kind]
  const callLength = ids.call(0, 0, 0).length
  const traceLength = ids.trace(0, 0).length
  const batch = calls.map((call, index) => {
    const trace = traceOf(index)
    const marked = {
      id: markedCall(trace, call.place, callLength),
      trace_id: markedTrace(trace, traceLength),
      parent_id: call.place === 0 ? null : markedCall(trace, 0, callLength),
    }
    return { ...marked, ...weaveCall(call, project), ...nothing }
  })
  const bytes = Buffer.from(JSON.stringify({ batch }))
  const places = markedPlaces(bytes)
  const traces = Math.ceil(calls.length / callsPerTrace)
  return {
    contentType: "application/json",
    bytes,
    payloadBytes: payloadBytesOf(calls),
    fresh(sequence) {
      const copy = Buffer.from(bytes)
      const time = Date.now()
      for (const { at, trace, place } of places) {
        const number = sequence * traces + trace
        copy.write(place === null ? ids.trace(number, time) : ids.call(number, place, time), at, "latin1")
      }
      return copy
    },
  }
}

function weaveCall({ startedAt, seconds, attributes, inputs, output, summary }: BenchCall, project: string) {
  return {
    project_id: project,
    op_name: `weave:///${project}/op/answer_question:Xk3v0pQbW9T2mJr8YdLcA5sHfN7uZeGi1oKxVtB6wEq`,
    started_at: startedAt.toISOString().replace("Z", "123Z"),
    ended_at: new Date(startedAt.getTime() + seconds * 1000).toISOString().replace("Z", "456Z"),
    attributes,
    inputs,
    output,
    summary,
  }
}

const nothing = {
  display_name: null,
  thread_id: null,
  turn_id: null,
  exception: null,
  otel_dump: null,
  wb_user_id: null,
  wb_run_id: null,
  wb_run_step: null,
  wb_run_step_end: null,
}

const traceIdBytes = 16
const spanIdBytes = 8

/** The same calls as OpenTelemetry spans with OpenInference's attributes, in protobuf. */
export function otlpBatch(calls: readonly BenchCall[], serviceName: string): CallBatch {
  const spans = calls.map((call, index) => ({
    traceId: markedTraceBytes(traceOf(index)),
    spanId: markedSpanBytes(call.place, traceOf(index)),
    parentSpanId: call.place === 0 ? null : markedSpanBytes(0, traceOf(index)),
    name: "answer_question",
    startedAt: call.startedAt,
    seconds: call.seconds,
    attributes: {
      "openinference.span.kind": "CHAIN",
      "input.value": JSON.stringify(call.inputs),
      "input.mime_type": "application/json",
      "output.value": JSON.stringify(call.output),
      "output.mime_type": "application/json",
      metadata: JSON.stringify({ attributes: call.attributes, summary: call.summary }),
    },
  }))
  const bytes = traceRequest(serviceName, spans)
  const places = markedBytePlaces(bytes)
  const traces = Math.ceil(calls.length / callsPerTrace)
  return {
    contentType: "application/x-protobuf",
    bytes,
    payloadBytes: payloadBytesOf(calls),
    fresh(sequence) {
      const copy = Buffer.from(bytes)
      for (const { at, trace, place } of places) {
        const number = sequence * traces + trace + 1
        copy.set(place === null ? otlpTraceId(number) : otlpSpanId(place, number), at)
      }
      return copy
    },
  }
}

/** Id of a trace in a body of {@link CallBatch.fresh}; a run counts its traces from 1. */
export const otlpTraceId = (trace: number) => Buffer.from(callIds.otel.trace(trace, 0), "hex")
export const otlpSpanId = (place: number, trace: number) => Buffer.from(callIds.otel.call(trace, place, 0), "hex")

/** Bytes that occur in no UTF-8 text and mark an id; the bytes after them say which id comes there. */
const spanMark = Buffer.from([0xff, 0, 0xff])
const traceMark = Buffer.from([0xff, 0, 0xfe, ...Buffer.alloc(9)])

function markedSpanBytes(place: number, trace: number): Buffer {
  const bytes = Buffer.alloc(spanIdBytes)
  spanMark.copy(bytes)
  bytes.writeUInt8(place, spanMark.length)
  bytes.writeUInt32BE(trace, spanIdBytes - 4)
  return bytes
}

function markedTraceBytes(trace: number): Buffer {
  const bytes = Buffer.alloc(traceIdBytes)
  traceMark.copy(bytes)
  bytes.writeUInt32BE(trace, traceIdBytes - 4)
  return bytes
}

function markedBytePlaces(bytes: Buffer): IdPlace[] {
  const places: IdPlace[] = []
  for (let at = bytes.indexOf(traceMark); at !== -1; at = bytes.indexOf(traceMark, at + 1)) {
    places.push({ at, trace: bytes.readUInt32BE(at + traceIdBytes - 4), place: null })
  }
  for (let at = bytes.indexOf(spanMark); at !== -1; at = bytes.indexOf(spanMark, at + 1)) {
    places.push({
      at,
      trace: bytes.readUInt32BE(at + spanIdBytes - 4),
      place: bytes.readUInt8(at + spanMark.length),
    })
  }
  return places
}

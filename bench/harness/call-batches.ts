/** Bodies of batches of calls, made once and sent many times with ids of their own. */
import { type BenchCall, callsPerTrace } from "./call-corpus.ts"
import { traceRequest } from "./otlp-spans.ts"

export interface CallBatch {
  contentType: string
  bytes: Buffer
  /** Of attributes, inputs, output and summary as JSON. */
  payloadBytes: number
  /** A copy in which every id is new; `sequence` counts the batches of a run. */
  fresh(sequence: number): Buffer
}

/** Where a number stands that makes an id new, and which trace of the batch it is of. */
interface Place {
  at: number
  trace: number
}

function placesOf(bytes: Buffer, marker: string, traceAt: (at: number) => number): Place[] {
  const places: Place[] = []
  for (let at = bytes.indexOf(marker); at !== -1; at = bytes.indexOf(marker, at + 1))
    places.push({ at, trace: traceAt(at) })
  return places
}

const traceOf = (index: number) => Math.floor(index / callsPerTrace)

const payloadBytesOf = (calls: readonly BenchCall[]) =>
  calls
    .flatMap(({ attributes, inputs, output, summary }) => [attributes, inputs, output, summary])
    .reduce((sum, payload) => sum + Buffer.byteLength(JSON.stringify(payload)), 0)

/** The body of `/v2/{entity}/{project}/calls/complete`, every field told as the Python client does. */
export function weaveBatch(calls: readonly BenchCall[], project: string): CallBatch {
  const batch = calls.map((call, index) => ({ ...weaveCall(call, traceOf(index), project), ...nothing }))
  const bytes = Buffer.from(JSON.stringify({ batch }))
  const places = placesOf(bytes, "@trace", (at) => Number(bytes.toString("latin1", at + 6, at + 12)))
  const traces = Math.ceil(calls.length / callsPerTrace)
  return {
    contentType: "application/json",
    bytes,
    payloadBytes: payloadBytesOf(calls),
    fresh(sequence) {
      const copy = Buffer.from(bytes)
      const time = Date.now().toString(16).padStart(12, "0")
      for (const { at, trace } of places) {
        copy.write(time.slice(0, 8), at - 24, "latin1")
        copy.write(time.slice(8), at - 15, "latin1")
        copy.write((sequence * traces + trace).toString(16).padStart(12, "0"), at, "latin1")
      }
      return copy
    },
  }
}

/** UUIDv7 of a form that {@link CallBatch.fresh} fills in. */
const weaveId = (place: number, trace: number) =>
  `00000000-0000-7${place.toString(16).padStart(3, "0")}-8000-@trace${String(trace).padStart(6, "0")}`
const traceIdPlace = 0xfff

function weaveCall(call: BenchCall, trace: number, project: string) {
  const { place, startedAt, seconds, attributes, inputs, output, summary } = call
  return {
    project_id: project,
    id: weaveId(place, trace),
    trace_id: weaveId(traceIdPlace, trace),
    parent_id: place === 0 ? null : weaveId(0, trace),
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

/** The same calls as OpenTelemetry spans with OpenInference's attributes, in protobuf. */
export function otlpBatch(calls: readonly BenchCall[], serviceName: string): CallBatch {
  const spans = calls.map((call, index) => ({
    traceId: otlpTraceId(traceOf(index)),
    spanId: otlpSpanId(call.place, traceOf(index)),
    parentSpanId: call.place === 0 ? null : otlpSpanId(0, traceOf(index)),
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
  const traceAt = (offset: number) => (at: number) => bytes.readUInt32BE(at + offset)
  const places = [
    ...placesOf(bytes, "@trace\0", traceAt(12)).map(({ at, trace }) => ({ at: at + 12, trace })),
    ...placesOf(bytes, "@sp", traceAt(4)).map(({ at, trace }) => ({ at: at + 4, trace })),
  ]
  const traces = Math.ceil(calls.length / callsPerTrace)
  return {
    contentType: "application/x-protobuf",
    bytes,
    payloadBytes: payloadBytesOf(calls),
    fresh(sequence) {
      const copy = Buffer.from(bytes)
      for (const { at, trace } of places) copy.writeUInt32BE(sequence * traces + trace + 1, at)
      return copy
    },
  }
}

/** Of a body of {@link CallBatch.fresh}, whose traces are counted from 1. */
export const otlpTraceId = (trace: number) => otlpId(traceMarker, trace)
export const otlpSpanId = (place: number, trace: number) => otlpId(`@sp${String.fromCharCode(place + 1)}`, trace)
const traceMarker = "@trace\0\0\0\0\0\0"

function otlpId(head: string, trace: number): Buffer {
  const number = Buffer.alloc(4)
  number.writeUInt32BE(trace)
  return Buffer.concat([Buffer.from(head, "latin1"), number])
}

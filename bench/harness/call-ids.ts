/** Ids of the kinds that clients give to calls; the same call always gets the same id. */
import type { Options } from "./options.ts"
import { oneOf } from "./options.ts"

/** `otel` ids are those of OpenTelemetry: 8 random bytes for a span, 16 for a trace. */
export const idKinds = ["uuid7", "uuid4", "otel"] as const
export type IdKind = (typeof idKinds)[number]

export const chosenIds = (options: Options) => oneOf(idKinds, options, "ids")

export interface CallIds {
  /** `time` is in milliseconds since 1970; only uuid7 uses it. */
  call(trace: number, place: number, time: number): string
  trace(trace: number, time: number): string
}

export const callIds: Readonly<Record<IdKind, CallIds>> = {
  uuid7: {
    call: (trace, place, time) => uuid7(time, place & 0xfff, trace * 4096 + (place >>> 12)),
    trace: (trace, time) => uuid7(time, 0xfff, trace),
  },
  uuid4: {
    call: (trace, place) => uuid4(randomDigits(trace, place)),
    trace: (trace) => uuid4(randomDigits(trace, ofTraces)),
  },
  otel: {
    call: (trace, place) => randomDigits(trace, place).slice(0, 16),
    trace: (trace) => randomDigits(trace, ofTraces),
  },
}

/** Stands where calls have their place, to make ids of traces; no call has this place. */
const ofTraces = 0xffff_ffff

/** A UUID of version 7; `place` and `rest` tell ids of the same millisecond apart. */
function uuid7(time: number, place: number, rest: number): string {
  const digits = time.toString(16).padStart(12, "0")
  const last = rest.toString(16).padStart(12, "0")
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7${place.toString(16).padStart(3, "0")}-8000-${last}`
}

function uuid4(digits: string): string {
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`
}

/** 32 hexadecimal digits that look like chance: the mixing of MurmurHash3 over both numbers. */
function randomDigits(a: number, b: number): string {
  let text = ""
  let state = Math.imul(a, 0x9e3779b1) ^ Math.imul(b + 1, 0x85ebca6b)
  for (let part = 0; part < 4; part++) {
    state = (state + 0x9e3779b9 + part * (a ^ Math.imul(b, 31))) | 0
    let bits = state ^ (state >>> 16)
    bits = Math.imul(bits, 0x85ebca6b)
    bits ^= bits >>> 13
    bits = Math.imul(bits, 0xc2b2ae35)
    text += ((bits ^ (bits >>> 16)) >>> 0).toString(16).padStart(8, "0")
  }
  return text
}

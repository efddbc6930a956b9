/**
 * Errors of the OTLP routes: a `google.rpc.Status` in the encoding of the request (OTLP 1.x,
 * "Failures"). As JSON it has the members of the evaluation store's errors besides, which readers of
 * a Status ignore.
 */
import type { HeddleError } from "../../errors.ts"
import { bytesField, numberField } from "../bodies/protobuf-message.ts"

/** `google.rpc.Code` by HTTP status. */
const codes: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  408: 4,
  409: 6,
  413: 8,
  415: 3,
  422: 3,
  429: 8,
  500: 13,
  503: 14,
  504: 4,
  507: 8,
}

const unknown = 2
const internal = 13

function codeOf({ status }: HeddleError): number {
  return codes[status] ?? (status >= 500 ? internal : unknown)
}

export function statusMembers(error: HeddleError): { code: number; message: string } {
  return { code: codeOf(error), message: error.message }
}

/** In protobuf. */
export function statusBytes(error: HeddleError): Buffer {
  return Buffer.concat([numberField(1, codeOf(error)), bytesField(2, error.message)])
}

export const protobufType = "application/x-protobuf"

export function isProtobuf(contentType: string | undefined): boolean {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase()
  return type === protobufType || type === "application/protobuf"
}

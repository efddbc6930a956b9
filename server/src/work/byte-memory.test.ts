/** Which bytes give their memory back, and which may share it with others. */
import { expect, test } from "vitest"
import { freeBytes } from "./byte-memory.ts"

test("bytes that fill most of their memory give it back, and are empty then", () => {
  const whole = Buffer.alloc(64 * 1024, 1)
  const most = Buffer.alloc(64 * 1024, 1).subarray(100, 50_000)
  freeBytes(whole, most)
  expect([whole.length, whole.buffer.byteLength, most.length]).toEqual([0, 0, 0])
})

test("bytes that may share their memory, and few bytes, are left as they are", () => {
  const memory = Buffer.alloc(64 * 1024, 1)
  const part = memory.subarray(0, 20_000)
  const few = Buffer.alloc(1000, 1)
  const pooled = Buffer.from("x".repeat(2000))
  freeBytes(part, few, pooled)
  expect([memory.length, part.length, few.length, pooled.toString()]).toEqual([65_536, 20_000, 1000, "x".repeat(2000)])
})

test("the same memory is given back once", () => {
  const bytes = Buffer.alloc(64 * 1024)
  freeBytes(bytes, bytes)
  expect(bytes.length).toBe(0)
})

import type { FastifyReply, FastifyRequest } from "fastify"
import { expect, test } from "vitest"
import { SessionCookie } from "./session-cookie.ts"

/** The `Cookie` header that a browser sends after this server has set its cookie. */
function headerAfter(cookie: SessionCookie, value: string): string {
  let set = ""
  const reply = { header: (_name: string, text: string) => void (set = text) }
  cookie.set({ protocol: "http" } as FastifyRequest, reply as unknown as FastifyReply, value, 1000)
  return set.split(";", 1)[0] ?? ""
}

const requestWith = (cookie: string) => ({ headers: { cookie } }) as FastifyRequest

test("two servers on one host do not take each other's cookie, which their ports share", () => {
  const [first, second] = [new SessionCookie(Buffer.from("one")), new SessionCookie(Buffer.from("two"))]
  const both = requestWith(`${headerAfter(first, "a")}; ${headerAfter(second, "b")}`)
  expect([first.read(both), second.read(both)]).toEqual(["a", "b"])
  expect(first.read(requestWith(headerAfter(second, "b")))).toBeNull()
})

test.each(["", "heddle_session=", "=;;;=", "a=b; ".repeat(2000)])("no session in %j", (header) => {
  expect(new SessionCookie(Buffer.from("one")).read(requestWith(header))).toBeNull()
})

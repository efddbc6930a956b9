import { expect, test } from "vitest"
import { errorOfResponse } from "./api-error.ts"

const answer = (status: number, body: string, headers: Record<string, string> = {}) =>
  errorOfResponse(new Response(body, { status, statusText: "Odd", headers: { "x-request-id": "req_1", ...headers } }))

test.each([
  ['{"error":{"message":"no such model","code":"model_not_found"}}', "no such model", "model_not_found"],
  ['{"reason":"bad field","error_type":"InvalidFieldError"}', "bad field", "InvalidFieldError"],
  ['{"detail":"no model x"}', "no model x", "http_418"],
  [
    '{"detail":[{"loc":["body","name"],"msg":"too short"},{"loc":["query"],"msg":"odd"}]}',
    "name: too short; odd",
    "validation_error",
  ],
  ["<html>a proxy's page</html>", "The server answered 418 Odd.", "http_418"],
  ["null", "The server answered 418 Odd.", "http_418"],
  ["", "The server answered 418 Odd.", "http_418"],
])("%s", async (body, message, code) => {
  expect(await answer(418, body)).toMatchObject({ message, code, status: 418, requestId: "req_1" })
})

test("what passes, what needs a sign-in, and how long to wait", async () => {
  expect(await answer(503, "{}", { "retry-after-ms": "1500" })).toMatchObject({ isPassing: true, retryAfterMs: 1500 })
  expect(await answer(404, "{}")).toMatchObject({ isPassing: false, isSignedOut: false, retryAfterMs: null })
  expect(await answer(401, "{}")).toMatchObject({ isSignedOut: true })
})

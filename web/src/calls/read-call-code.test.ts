import { expect, test } from "vitest"
import { curlOfCall, pythonOfCall } from "./read-call-code.ts"

const place = { server: "https://heddle.example", projectId: "acme/o'hara", callId: "0198-7" }

test("curl gets the call's place in quotes of the shell", () => {
  expect(curlOfCall(place)).toBe(`curl https://heddle.example/call/read \\
  -H "Authorization: Bearer $WANDB_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"project_id":"acme/o'\\''hara","id":"0198-7"}'`)
})

test("Python names server, project and call", () => {
  const lines = pythonOfCall(place).split("\n")
  expect(lines).toContain('os.environ["WANDB_BASE_URL"] = "https://heddle.example"')
  expect(lines).toContain(`client = weave.init("acme/o'hara")`)
  expect(lines).toContain('call = client.get_call("0198-7")')
})

import { expect, test } from "vitest"
import { usageCsv } from "./usage-csv.ts"

test("a line for each day, project, person, key and model, safe in a spreadsheet", () => {
  const result = {
    object: "organization.usage.completions.result" as const,
    input_tokens: 1200,
    input_cached_tokens: 200,
    output_tokens: 34,
    num_model_requests: 5,
    project_id: "local/support",
    user_id: "u1",
    api_key_id: "k1",
    model: 'a "model", quoted',
  }
  const bucket = { object: "bucket" as const, start_time: 1_767_225_600, end_time: 1_767_312_000, results: [result] }
  const names = { user: () => "ada", key: () => "=cmd of ada" }
  expect(usageCsv({ data: [bucket, { ...bucket, results: [] }] }, names)).toBe(
    "day,project,user,api_key,api_key_id,model,requests,input_tokens,cached_tokens,output_tokens\r\n" +
      '2026-01-01,local/support,ada,\'=cmd of ada,k1,"a ""model"", quoted",5,1200,200,34\r\n',
  )
})

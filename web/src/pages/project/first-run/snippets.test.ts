import { expect, test } from "vitest"
import { clients, snippetOf } from "./snippets.ts"

const values = {
  server: "https://host/heddle",
  entity: "shop",
  project: "support",
  defaultEntity: "mara",
  key: "KEY0123",
}

test.each(clients)("%s: server, project and key stand in the code", (client) => {
  const { code } = snippetOf(client, values)
  for (const value of ["https://host/heddle", "support", "shop", "KEY0123"]) expect(code).toContain(value)
})

test("a blank of a project is written as headers of OpenTelemetry are", () => {
  expect(snippetOf("otel", { ...values, project: "my support" }).code).toContain("project_id=shop/my%20support")
})

test.each(["openai", "curl"] as const)("%s: letters that no header carries are encoded", (client) => {
  expect(snippetOf(client, { ...values, project: "プロ" }).code).toMatch(/OpenAI-Project.*shop\/%E3%83%97%E3%83%AD["']/)
})

test("OpenTelemetry: exporters decode once what a header carries, and the server the letters that none does", () => {
  const { code } = snippetOf("otel", { ...values, project: "プロ" })
  const sent = decodeURIComponent(/project_id=([^"]+)/.exec(code)?.[1] ?? "")
  expect([sent, decodeURIComponent(sent)]).toEqual(["shop/%E3%83%97%E3%83%AD", "shop/プロ"])
})

test.each([
  ["curl", String.raw`'OpenAI-Project: shop/$5 "a" it'\''s'`],
  ["openai", String.raw`{"OpenAI-Project": "shop/$5 \"a\" it's"}`],
  ["weave", String.raw`weave.init("shop/$5 \"a\" it's")`],
] as const)("%s: marks of a shell and of Python stay what they are", (client, whole) => {
  expect(snippetOf(client, { ...values, project: `$5 "a" it's` }).code).toContain(whole)
})

test("ART names the team only when it is not the default one", () => {
  expect(snippetOf("art", { ...values, defaultEntity: "shop" }).code).not.toContain("entity=")
})

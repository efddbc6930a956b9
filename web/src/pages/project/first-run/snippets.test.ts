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
  expect(snippetOf(client, { ...values, project: "プロ" }).code).toMatch(/OpenAI-Project.*shop\/%E3%83%97%E3%83%AD"/)
})

test("ART names the team only when it is not the default one", () => {
  expect(snippetOf("art", { ...values, defaultEntity: "shop" }).code).not.toContain("entity=")
})

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

test("ART names the team only when it is not the default one", () => {
  expect(snippetOf("art", { ...values, defaultEntity: "shop" }).code).not.toContain("entity=")
})

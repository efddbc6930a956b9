import { readFile } from "node:fs/promises"
import path from "node:path"
import { expect, test } from "vitest"
import { engineSchemaText } from "./engine-schema.ts"

test("engine/heddle_engine/protocol_schema.json is what wire/engine says (scripts/generate-engine-schema.ts writes it)", async () => {
  const file = path.resolve(import.meta.dirname, "../../../engine/heddle_engine/protocol_schema.json")
  expect(await readFile(file, "utf8")).toBe(engineSchemaText())
})

/**
 * Writes engine/heddle_engine/protocol_schema.json from server/src/wire/engine, so that the Python side checks
 * its messages against the same schemas.
 * Usage: node scripts/generate-engine-schema.ts. A test compares the file with the schemas.
 */
import { writeFile } from "node:fs/promises"
import path from "node:path"
import { engineSchemaText } from "../server/src/engines/engine-schema.ts"

const file = path.resolve(import.meta.dirname, "../engine/heddle_engine/protocol_schema.json")
await writeFile(file, engineSchemaText())

/** `/openapi.json` describes every operation and field. Two validators and a generated client read it in `compat/`. */
import { readdir, readFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { meanings } from "../../src/http/openapi/reference/field-meanings.ts"
import { operations } from "../../src/http/openapi/reference/operations.ts"
import { fieldsBelow } from "../support/document-fields.ts"
import { openTrainingApp, type TrainingApp } from "../support/training-app.ts"

interface Parameter {
  name: string
  in: string
  description?: string
  example?: unknown
}
interface DocumentedOperation {
  operationId: string
  summary?: string
  description?: string
  tags: string[]
  parameters: Parameter[]
  requestBody?: { content: Record<string, { example?: unknown; schema?: unknown }> }
  responses: Record<string, { content?: Record<string, { schema?: unknown }> }>
}
interface Document {
  openapi: string
  info: { description: string }
  servers: { url: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, DocumentedOperation>>
  components: { schemas: Record<string, unknown> }
}

let opened: TrainingApp
let document: Document
let text: string
beforeAll(async () => {
  opened = await openTrainingApp()
  const answer = await opened.app.server.inject({ method: "GET", url: "/openapi.json" })
  document = answer.json()
  text = answer.payload
})
afterAll(() => opened.close())

const documented = () =>
  Object.entries(document.paths).flatMap(([url, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${url}`, operation })),
  )

test("every route is described, and nothing else is", () => {
  const routes = opened.app.routes.map(({ method, path: url }) => `${method} ${url}`)
  expect(Object.keys(operations).toSorted()).toEqual(routes.toSorted())
})

test("every operation has a summary and a description, and what takes something has an example", () => {
  expect(documented().length).toBeGreaterThan(200)
  const lacking = documented().flatMap(({ name, operation }) => {
    const { summary = "", description = "", parameters, requestBody } = operation
    const contents = Object.values(requestBody?.content ?? {})
    const needed = parameters.filter((parameter) => parameter.in === "path")
    const what = [
      ...(summary === "" ? ["summary"] : []),
      ...(description === "" ? ["description"] : []),
      ...(contents.some(({ example }) => example === undefined) ? ["example of its body"] : []),
      ...needed.filter(({ example }) => example === undefined).map((one) => `example of ${one.name}`),
      ...(parameters.length > 0 && parameters.every(({ example }) => example === undefined) ? ["example"] : []),
    ]
    return what.map((one) => `${name}: ${one}`)
  })
  expect(lacking).toEqual([])
})

test("every parameter says what it means", () => {
  const silent = documented().flatMap(({ name, operation }) =>
    operation.parameters.filter(({ description = "" }) => description === "").map((one) => `${name}: ${one.name}`),
  )
  expect(silent).toEqual([])
})

/** Fields that need no description, because their names say everything wherever they are. */
const obvious = new Set(["id", "object", "name", "description", "data", "created_at", "username"])

const fields = () => {
  const bodies = documented().flatMap(({ name, operation: { requestBody, responses } }) =>
    [requestBody, ...Object.values(responses)].map((part) => [name, part?.content] as const),
  )
  return fieldsBelow(bodies, document.components.schemas)
}

test("every field of a body or an answer says what it means", () => {
  const silent = fields().filter(
    ({ name, schema }) => !obvious.has(name) && schema.const === undefined && (schema.description ?? "") === "",
  )
  expect(fields().length).toBeGreaterThan(1900)
  expect(silent.map(({ within, name }) => `${within}.${name}`)).toEqual([])
})

test("every meaning that is written down is a field's", () => {
  const parameters = documented().flatMap(({ operation }) => operation.parameters)
  const shown = new Set([...parameters, ...fields().map(({ schema }) => schema)].map(({ description }) => description))
  const written = meanings.flatMap(({ everywhere, requests, answers, schemas }) =>
    [everywhere, requests, answers, ...Object.values(schemas ?? {})].flatMap((map) => Object.entries(map ?? {})),
  )
  expect(written.length).toBeGreaterThan(900)
  expect(written.filter(([, meaning]) => !shown.has(meaning))).toEqual([])
})

test("schemas have names of their own, and every ref leads to one", () => {
  const names = Object.keys(document.components.schemas)
  const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = ""]) => ref)
  expect(refs.length).toBeGreaterThan(500)
  expect(refs.filter((ref) => !names.some((name) => ref === `#/components/schemas/${name}`))).toEqual([])
  expect(text).not.toContain('"$defs"')
  expect(names.filter((name) => !/^[A-Z][A-Za-z]+$/.test(name))).toEqual([])
  expect(names).toEqual(expect.arrayContaining(["CallRecord", "CallsFilter", "ChatCompletion", "Query", "Trajectory"]))
})

test("every module of schemas gives its names to the document", async () => {
  const source = await readFile(
    path.join(import.meta.dirname, "../../src/http/openapi/reference/schema-names.ts"),
    "utf8",
  )
  const wire = path.join(import.meta.dirname, "../../src/wire")
  const files = await readdir(wire, { recursive: true })
  // These modules have no schema that the document shows by its own name.
  const parts =
    /^engine|bounded-list|repeated-query|shown-type|well-formed|list-range|list-query|or-default|reserved-names|page|platform.metrics|run-inputs|artifact-inputs|leads-inside/
  const missing = files
    .filter((file) => file.endsWith(".ts") && !parts.test(path.basename(file)) && !parts.test(file))
    .filter((file) => !source.includes(`/wire/${file}"`))
  expect(missing).toEqual([])
})

test("the introduction leads to the guides", async () => {
  const named = Array.from(document.info.description.matchAll(/`(\S+\.md)`/g), ([, file = ""]) => file)
  const guides = await readdir(path.resolve(import.meta.dirname, "../../../docs/guide"))
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((file) => !guides.includes(file))).toEqual([])
})

test("headings come in a reader's order, and each says what is under it", () => {
  const names = document.tags.map(({ name }) => name)
  expect(names.slice(0, 4)).toEqual(["Chat", "Models", "Training jobs", "Checkpoints"])
  expect(document.tags.filter(({ description = "" }) => description === "")).toEqual([])
  const used = new Set(documented().flatMap(({ operation }) => operation.tags))
  expect([...used].toSorted()).toEqual(names.toSorted())
})

test("the server's address is relative to the document's own, so that a prefix stays", () => {
  expect(document.servers).toEqual([{ url: "." }])
})

/** The served document is valid OpenAPI, and a client that is generated from it compiles and works. */
import { Validator } from "@seriousme/openapi-schema-validator"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { promisify } from "node:util"
import openapiTypes, { astToString } from "openapi-typescript"
import { afterAll, beforeAll, expect, inject, test } from "vitest"

const run = promisify(execFile)

let document: Record<string, unknown>
let folder: string
beforeAll(async () => {
  document = (await (await fetch(`${inject("server").url}/openapi.json`)).json()) as Record<string, unknown>
  // The folder lies in this one, where the generated client finds the package that it imports.
  folder = await mkdtemp(path.join(import.meta.dirname, "generated-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test("the document is valid", async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  expect([valid, errors ?? []]).toEqual([true, []])
})

const program = `import createClient from "openapi-fetch"
import type { components, paths } from "./schema.ts"

const [, , baseUrl = "", key = ""] = process.argv
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } })
const { data, error } = await client.POST("/v1/chat/completions", {
  body: { model: "heddle/tiny", messages: [{ role: "user", content: "4+5=" }], max_completion_tokens: 1 },
})
if (error !== undefined) throw new Error(JSON.stringify(error))
const reason: components["schemas"]["ChatChoice"]["finish_reason"] | undefined = data.choices[0]?.finish_reason
const models = await client.GET("/v1/preview/models", { params: { query: { limit: 1 } } })
console.log(JSON.stringify([reason, models.data?.object]))
`
/** A program with a wrong body, which the generated types must refuse. */
const wrong = `import createClient from "openapi-fetch"
import type { paths } from "./schema.ts"

const client = createClient<paths>({ baseUrl: "" })
await client.POST("/v1/chat/completions", { body: { model: 1, messages: [] } })
`

test(
  "a generated client compiles, refuses what the document does not allow, and works",
  { timeout: 300_000 },
  async () => {
    const { url, key } = inject("server")
    const types = astToString(await openapiTypes(document as never))
    const files = { "schema.ts": types, "program.ts": program, "wrong.ts": wrong }
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(path.join(folder, name), text)))
    const compiler = path.join(import.meta.dirname, "node_modules/typescript/bin/tsc")
    const strict = "--noEmit --strict --skipLibCheck --module nodenext --target esnext --allowImportingTsExtensions"
    const compile = (file: string) =>
      run(
        process.execPath,
        [compiler, ...strict.split(" "), "--types", "node", "--typeRoots", "../../../node_modules/@types", file],
        {
          cwd: folder,
        },
      ).then(
        () => "",
        ({ stdout }: { stdout: string }) => stdout,
      )
    expect(await compile("program.ts")).toBe("")
    expect(await compile("wrong.ts")).toContain("wrong.ts(5,53): error TS2322")
    const { stdout } = await run(process.execPath, ["program.ts", url, key], { cwd: folder })
    expect(JSON.parse(stdout)).toEqual(["length", "list"])
    expect((await readFile(path.join(folder, "schema.ts"), "utf8")).length).toBeGreaterThan(100_000)
  },
)

/** GraphQL documents that are small to send and expensive to run; without limits most would never be answered. */
import { buildSchema, getIntrospectionQuery } from "graphql"
import { afterAll, beforeAll, expect, test } from "vitest"
import { answerGraphql } from "../../src/platform/graphql/graphql-answer.ts"
import { openTestApp, type TestApp } from "../support/test-app.ts"
import { dataOf } from "../support/wandb-runs.ts"

let opened: TestApp
beforeAll(async () => (opened = await openTestApp()))
afterAll(() => opened.close())

const ask = async (query: string) => {
  const { status, body } = await opened.acme.post("/graphql", { query })
  return { status, body: body as { data?: Record<string, unknown>; errors?: { message: string }[] } }
}

/** `count` fragments, each of which spreads the next one `times` times. */
const chain = (count: number, times: number, inner: string, type = "Query") =>
  Array.from({ length: count }, (_, n) => `fragment f${n} on ${type}{${`...f${n + 1} `.repeat(times)}}`).join("") +
  `fragment f${count} on ${type}{${inner}}`

const aliases = (count: number, field: string) => Array.from({ length: count }, (_, n) => `a${n}:${field}`).join(" ")

test.each([
  ["fragments that double 27 times", `{...f0}${chain(27, 2, "viewer{id}")}`, "more than 500 fields"],
  ["fragments that double 400 times", `{...f0}${chain(400, 2, "viewer{id}")}`, "more than 500 fields"],
  [
    "aliases of aliases",
    `{viewer{...A}} fragment A on User{${aliases(200, "teams{...B}")}} ` +
      `fragment B on TeamConnection{${aliases(200, "edges{...C}")}} fragment C on TeamEdge{${aliases(200, "node{id}")}}`,
    "more than 500 fields",
  ],
  [
    "fragments that double inside an introspection",
    `{__schema{...f0}}${chain(40, 2, "types{name}", "__Schema")}`,
    "500",
  ],
  ["lists inside lists of an introspection", `{__schema{types{fields{type{fields{type{fields{name}}}}}}}}`, "depth"],
  ["one field inside the other, 20 deep", `{${"viewer{".repeat(21)}id${"}".repeat(21)}}`, "more than 20 levels"],
  [
    "one field inside the other, 1,600 deep",
    `{${"viewer{".repeat(1600)}id${"}".repeat(1600)}}`,
    "more than 500 fields",
  ],
  ["21 questions to the catalog", `{${aliases(21, 'project(name:"p")')}}`, "more than 20 fields at its root"],
  ["a fragment that cannot end", "{...A} fragment A on Query{...B} fragment B on Query{...A}", "itself"],
  ["more tokens than any question has", `{viewer{${"id ".repeat(5000)}}}`, "5000 tokens"],
])("law 8: %s is refused before it is run", async (_, query, told) => {
  const { status, body } = await ask(query)
  expect([status, body.data]).toEqual([200, undefined])
  expect(body.errors?.[0]?.message).toContain(told)
})

test("law 8: a mutation makes at most 20 projects, and one that is refused makes none", async () => {
  const making = (count: number, name: string) =>
    `mutation{${Array.from({ length: count }, (_, n) => `m${n}:upsertModel(input:{name:"${name}-${n}"}){inserted}`).join(" ")}}`
  expect((await ask(making(21, "refused"))).body.errors?.[0]?.message).toBe(
    "the mutation has more than 20 fields at its root; send several requests",
  )
  expect((await ask('{project(name:"refused-0"){name}}')).body.data).toEqual({ project: null })
  const { body } = await ask(making(20, "made"))
  expect(body.data?.["m19"]).toEqual({ inserted: true })
})

test("a field that is selected at several places and through fragments is answered once, with nulls where there is none", async () => {
  const query = `{...f0 viewer{username mystery{a}} viewer{mystery{b}}}${chain(5, 2, "viewer{other}")}`
  expect((await ask(query)).body).toEqual({ data: { viewer: { other: null, username: "acme", mystery: null } } })
})

test("the introspection query of GraphQL's own tools is answered", async () => {
  const { body } = await ask(getIntrospectionQuery())
  expect(body.errors).toBeUndefined()
  expect(JSON.stringify(body.data)).toContain('"upsertModel"')
})

test("law 8: a page of runs ends early where their configs are large, and an answer that would be too large is refused", async () => {
  const config = JSON.stringify({ text: { value: "x".repeat(8_000_000) } })
  for (const name of ["one", "two", "three"]) {
    const query = "mutation($input: UpsertBucketInput) { upsertBucket(input: $input) { inserted } }"
    const input = { modelName: "large", name, config }
    const { body } = await opened.acme.post("/graphql", { query, variables: { input } })
    expect(body).toEqual({ data: { upsertBucket: { inserted: true } } })
  }
  const page = async (after: string) => {
    const list = `runs(first: 50, after: "${after}") { edges { node { name config } } pageInfo { hasNextPage endCursor } }`
    const { body } = await ask(`{ project(name: "large") { ${list} } }`)
    const { runs } = dataOf(body, "project") as {
      runs: {
        edges: { node: { name: string; config: string } }[]
        pageInfo: { hasNextPage: boolean; endCursor: string }
      }
    }
    return { names: runs.edges.map(({ node }) => [node.name, node.config.length]), ...runs.pageInfo }
  }
  const first = await page("")
  expect(first).toMatchObject({ names: ["one", "two"].map((name) => [name, config.length]), hasNextPage: true })
  expect(await page(first.endCursor)).toMatchObject({ names: [["three", config.length]], hasNextPage: false })
  const once = await ask(`{ project(name: "large") { run(name: "one") { ${aliases(9, "config")} } } }`)
  expect(once.body).toEqual({
    errors: [
      expect.objectContaining({ message: expect.stringContaining("250,000 fields and 64 Mi characters") as string }),
    ],
  })
  const many = await ask(`{ project(name: "large") { ${aliases(9, 'run(name: "one") { config }')} } }`)
  expect(many.body.errors?.[0]?.message).toBe(
    "what the document asks for is too large for one answer; ask for fewer at a time",
  )
})

test("law 8: lists inside lists are refused once they come to too many fields", async () => {
  const schema = buildSchema("type Query { all: [Item] } type Item { name: String all: [Item] }")
  const all = (): unknown[] => Array.from({ length: 700 }, () => ({ name: "x", all }))
  await expect(answerGraphql(schema, { all }, { query: "{ all { all { name } } }" })).rejects.toMatchObject({
    code: "payload_too_large",
  })
})

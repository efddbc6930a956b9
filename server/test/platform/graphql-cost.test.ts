/** GraphQL documents that are small to send and expensive to run; without limits most would never be answered. */
import { getIntrospectionQuery } from "graphql"
import { afterAll, beforeAll, expect, test } from "vitest"
import { openTestApp, type TestApp } from "../support/test-app.ts"

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

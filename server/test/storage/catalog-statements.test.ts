/** Statements that come again, with other values, after an error, after a change of their table, and many different ones. */
import { sql } from "kysely"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { openTestCatalog, type TestCatalog } from "../support/test-catalog.ts"

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await sql`create table things (id int primary key, name text)`.execute(catalog.database)
})
afterAll(() => catalog.close())

const read = async (statement: ReturnType<typeof sql>) => (await statement.execute(catalog.database)).rows

test("a statement that comes again answers for its own values, of each type", async () => {
  const values = [
    {
      n: 1,
      big: 2 ** 40,
      real: 0.1,
      truth: true,
      words: ["a", 'b"c', ""],
      json: { a: [1, null] },
      bytes: Buffer.from([0, 255]),
    },
    { n: -7, big: -1, real: 1e300, truth: false, words: [], json: ["ü"], bytes: Buffer.alloc(0) },
    { n: null, big: null, real: null, truth: null, words: null, json: null, bytes: null },
  ]
  for (const one of values) {
    const json = one.json === null ? null : JSON.stringify(one.json)
    const [row] = await read(sql`
      select ${one.n}::int as n, ${one.big}::int8 as big, ${one.real}::float8 as real, ${one.truth}::bool as truth,
        ${one.words}::text[] as words, ${json}::jsonb as json, ${one.bytes}::bytea as bytes`)
    const { bytes, ...others } = row as { bytes: Uint8Array | null }
    expect({ ...others, bytes: bytes && Buffer.from(bytes) }).toEqual(one)
  }
})

test("a value that a statement refuses does not spoil its next run, nor one that has no rows", async () => {
  const asNumber = (text: string) => read(sql`select ${text}::text::int as n`)
  expect(await asNumber("1")).toEqual([{ n: 1 }])
  await expect(asNumber("x")).rejects.toMatchObject({ code: "22P02" })
  expect(await asNumber("2")).toEqual([{ n: 2 }])
  await expect(read(sql`select * from no_such_table`)).rejects.toMatchObject({ code: "42P01" })
  expect(await read(sql`select id from things where id = ${0}`)).toEqual([])
})

test("a statement answers the columns that its table has by then", async () => {
  const all = () => read(sql`select * from things`)
  await read(sql`insert into things values (${1}, ${"one"})`)
  expect(await all()).toEqual([{ id: 1, name: "one" }])
  await read(sql`alter table things add column size int`)
  expect(await all()).toEqual([{ id: 1, name: "one", size: null }])
  await read(sql`alter table things drop column size`)
  expect(await all()).toEqual([{ id: 1, name: "one" }])
})

test("a transaction that fails takes its rows back, and its statements run on after it", async () => {
  const { database } = catalog
  const insert = (id: number) => sql`insert into things values (${id}, ${"new"})`
  const names = (id: number) => read(sql`select name from things where id = ${id}`)
  const failing = database.transaction().execute(async (transaction) => {
    await insert(2).execute(transaction)
    await insert(2).execute(transaction)
  })
  await expect(failing).rejects.toMatchObject({ code: "23505" })
  expect(await names(2)).toEqual([])
  await database.transaction().execute((transaction) => insert(3).execute(transaction))
  expect(await names(3)).toEqual([{ name: "new" }])
})

test("more statements than are kept, and ones of many parameters, answer each time", async () => {
  for (let round = 0; round < 2; round += 1) {
    for (let n = 0; n < 300; n += 1)
      expect(await read(sql`select ${n}::int + ${sql.lit(n)} as sum`)).toEqual([{ sum: 2 * n }])
    const many = Array.from({ length: 1000 }, (_, n) => n)
    expect(await read(sql`select count(*)::int as n from things where id in (${sql.join(many)})`)).toHaveLength(1)
  }
  const [kept] = await read(sql`select count(*)::int as n from pg_prepared_statements`)
  expect((kept as { n: number }).n).toBeLessThanOrEqual(256)
})

test("changes say how many rows they reached", async () => {
  const { database } = catalog
  const { numAffectedRows } = await sql`update things set name = ${"x"} where id >= ${0}`.execute(database)
  expect(numAffectedRows).toBe(2n)
})

test("the embedded catalog plans a statement for its values again once its plan for all values is old", async () => {
  const embedded = await openTestCatalog(null)
  vi.useFakeTimers({ toFake: ["performance"] })
  try {
    const run = async () => (await sql`select id from projects where name = ${"x"}`.execute(embedded.database)).rows
    const planned = async () => {
      const { rows } = await sql<{ custom: number; generic: number }>`
        select custom_plans::int as custom, generic_plans::int as generic from pg_prepared_statements
        where statement like 'select id from projects%'`.execute(embedded.database)
      return rows
    }
    for (let n = 0; n < 7; n += 1) await run()
    expect(await planned()).toEqual([{ custom: 5, generic: 2 }])
    vi.advanceTimersByTime(6_000)
    await run()
    expect(await planned()).toEqual([{ custom: 1, generic: 0 }])
  } finally {
    vi.useRealTimers()
    await embedded.close()
  }
})

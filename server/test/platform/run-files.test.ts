/** Files of runs, stored and fetched at signed addresses: platform-wandb 1, 8. */
import { randomUUID } from "node:crypto"
import { sql } from "kysely"
import { afterAll, beforeAll, expect, test } from "vitest"
import { defaultLimits } from "../../src/limits.ts"
import { collectRuns } from "../../src/storage/run-collector.ts"
import { insertRunLines } from "../../src/storage/traces/runs/run-lines.ts"
import { type EvaluationApp, evaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"
import {
  ask,
  readRun,
  type RunNames,
  runFileIds,
  startRun,
  streamPath,
  uploadAddress,
  uploadRunFile,
} from "../support/wandb-runs.ts"

let opened: EvaluationApp
beforeAll(async () => {
  opened = await openEvaluationApp({ prefix: "/heddle", limits: { ...defaultLimits, run_file_bytes: 1024 * 1024 } })
})
afterAll(() => opened.close())

const newRun = async (): Promise<RunNames> => {
  const names = { entity: "acme", project: "files", run: randomUUID().slice(0, 8) }
  await startRun(opened.acme, names)
  return names
}

const request = (method: "GET" | "PUT", url: string, payload?: string | Buffer) =>
  opened.app.server.inject({ method, url, ...(payload === undefined ? {} : { payload }) })

interface FileNode {
  name: string
  url: string
  directUrl: string
  sizeBytes: number
  md5: string
}

const filesOf = async (names: RunNames, given = ""): Promise<FileNode[]> => {
  const { files } = await readRun(
    opened.acme,
    names,
    `files${given} { edges { node { name url directUrl sizeBytes md5 } } }`,
  )
  return (files as { edges: { node: FileNode }[] }).edges.map(({ node }) => node)
}

const stored = async () => {
  const { body } = await opened.acme.get("/v1/organization/teams/acme/quotas")
  const { quotas } = body as { quotas: { name: string; used: number }[] }
  return quotas.find(({ name }) => name === "stored_bytes")?.used ?? expect.unreachable()
}

test("platform-wandb 8: a file is stored without a key at its address, and read back by name and by address", async () => {
  const names = await newRun()
  const name = "media/a b%é.txt"
  expect((await request("PUT", await uploadAddress(opened.acme, names, `./${name}`), "content")).json()).toEqual({
    bytes: 7,
  })
  const [file] = await filesOf(names)
  expect(file).toMatchObject({ name, sizeBytes: 7, md5: "mgNkuembtIDdJeHwKEyFVQ==" })
  const direct = await request("GET", new URL(file?.directUrl ?? "").pathname)
  expect([direct.statusCode, direct.payload, direct.headers["content-disposition"]]).toEqual([
    200,
    "content",
    "attachment",
  ])
  const byName = new URL(file?.url ?? "").pathname
  expect((await opened.acme.get(byName)).text).toBe("content")
  expect((await request("GET", byName)).statusCode).toBe(401)
  expect((await opened.rival.get(byName)).status).toBe(404)
})

/** As a name in Chinese is for an index: hardly any three bytes come again. */
const manySigns = (count: number) =>
  Array.from({ length: count }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7919) % 20_900))).join("")

test.each([
  ["470 signs of three bytes", manySigns(470)],
  ["2,046 bytes", manySigns(682)],
  ["1,024 characters that JSON escapes in six", "\u0001".repeat(1024)],
])("platform-wandb 8: a file is stored and fetched at its addresses under a name of %s", async (_what, name) => {
  const names = await newRun()
  const answer = await request("PUT", await uploadAddress(opened.acme, names, name), "content")
  expect([answer.statusCode, answer.json()]).toEqual([200, { bytes: 7 }])
  const [file] = await filesOf(names)
  for (const address of [file?.directUrl, file?.url]) {
    expect((await opened.acme.get(new URL(address ?? "").pathname)).text).toBe("content")
  }
})

test.each(["", "/heddle"])(
  "platform-wandb 1: an address has the operator's prefix, also where a proxy took it off: a request under %j",
  async (sent) => {
    const names = await newRun()
    await uploadRunFile(opened, opened.acme, names, { name: "x.txt", text: "content" })
    const query = `query($entity: String, $project: String, $run: String!) { project(name: $project, entityName: $entity) {
      run(name: $run) { files { edges { node { url uploadUrl directUrl } } } } } }`
    const { body } = await opened.acme.post(`${sent}/graphql`, { query, variables: names })
    type Answer = { data: { project: { run: { files: { edges: { node: Record<string, string> }[] } } } } }
    const node = (body as Answer).data.project.run.files.edges[0]?.node ?? {}
    const paths = Object.values(node).map((address) => new URL(address).pathname)
    expect(paths.map((path) => path.split("/").slice(0, 3).join("/"))).toEqual(Array(3).fill("/heddle/files"))
    expect((await request("GET", new URL(node["directUrl"] ?? "").pathname)).payload).toBe("content")
  },
)

test("a file comes with its length, whatever coding its reader takes", async () => {
  const names = await newRun()
  await uploadRunFile(opened, opened.acme, names, { name: "log.txt", text: "a line\n".repeat(2000) })
  const [file] = await filesOf(names)
  for (const address of [file?.url ?? "", file?.directUrl ?? ""]) {
    const headers = { authorization: `Bearer ${opened.acme.key}`, "accept-encoding": "gzip" }
    const answer = await opened.app.server.inject({ url: new URL(address).pathname, headers })
    const { "content-length": length, "content-encoding": coding } = answer.headers
    expect([answer.statusCode, length, coding]).toEqual([200, "14000", undefined])
  }
})

test("platform-wandb 8: a page is answered a file as a picture or in parts, and never as a document", async () => {
  const names = await newRun()
  await uploadRunFile(opened, opened.acme, names, { name: "media/page.html", text: "<script>alert(1)</script>" })
  const [file] = await filesOf(names)
  const get = async (address = "", query = "", range?: string) => {
    const headers = { authorization: `Bearer ${opened.acme.key}`, ...(range === undefined ? {} : { range }) }
    return opened.app.server.inject({ url: new URL(address).pathname + query, headers })
  }
  const shown = await get(file?.url, "?type=image/png")
  expect([shown.statusCode, shown.payload]).toEqual([200, "<script>alert(1)</script>"])
  expect(shown.headers).toMatchObject({
    "content-type": "image/png",
    "content-disposition": "attachment",
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
  })
  for (const address of [file?.url, file?.directUrl]) {
    const part = await get(address, "", "bytes=8-12")
    expect([part.statusCode, part.payload, part.headers["content-range"]]).toEqual([206, "alert", "bytes 8-12/25"])
    expect(part.headers["content-type"]).toBe("application/octet-stream")
  }
  for (const type of ["text/html", "application/pdf", "image/tiff"]) {
    expect((await get(file?.url, `?type=${type}`)).statusCode).toBe(422)
  }
})

test("platform-wandb 8: a file that comes again takes the place of the first, and its old content goes", async () => {
  const names = await newRun()
  for (const text of ["first content", "second", ""])
    await uploadRunFile(opened, opened.acme, names, { name: "x.txt", text })
  expect(await filesOf(names)).toMatchObject([{ name: "x.txt", sizeBytes: 0 }])
  expect(await opened.app.stores.blobs.has(await sha256("first content"))).toBe(false)
})

test("platform-wandb 8: files are found by name and by pattern, in pages", async () => {
  const names = await newRun()
  for (const name of ["a.txt", "b.txt", "c.json"]) await uploadRunFile(opened, opened.acme, names, { name, text: name })
  const named = async (given: string) => (await filesOf(names, given)).map(({ name }) => name)
  expect(await named('(names: ["./b.txt", "c.json"])')).toEqual(["b.txt", "c.json"])
  expect(await named('(pattern: "%.txt")')).toEqual(["a.txt", "b.txt"])
  expect(await readRun(opened.acme, names, "fileCount files(first: 2) { pageInfo { hasNextPage } }")).toEqual({
    fileCount: 3,
    files: { pageInfo: { hasNextPage: true } },
  })
  const { files } = await readRun(opened.acme, names, "files(first: 2) { edges { cursor } }")
  const cursor = (files as { edges: { cursor: string }[] }).edges.at(-1)?.cursor
  expect(await named(`(after: "${cursor}")`)).toEqual(["c.json"])
})

test("platform-wandb 8: a file that is asked for by name and not there is named as missing, in its place on the pages", async () => {
  const names = await newRun()
  for (const name of ["a.txt", "é.txt"]) await uploadRunFile(opened, opened.acme, names, { name, text: name })
  const asked = '(names: ["é.txt", "z.txt", "./no.txt", "a.txt", "no.txt"], first: 2'
  const page = async (given: string) => {
    const fields = "edges { cursor node { name sizeBytes md5 updatedAt } } pageInfo { hasNextPage }"
    const { files } = await readRun(opened.acme, names, `files${given} { ${fields} }`)
    return files as { edges: { cursor: string; node: FileNode }[]; pageInfo: { hasNextPage: boolean } }
  }
  const first = await page(`${asked})`)
  expect(first).toMatchObject({
    edges: [{ node: { name: "a.txt", sizeBytes: 5 } }, {}],
    pageInfo: { hasNextPage: true },
  })
  expect(first.edges[1]?.node).toEqual({ name: "no.txt", sizeBytes: 0, md5: "0", updatedAt: null })
  const second = await page(`${asked}, after: "${first.edges[1]?.cursor}")`)
  expect(second).toMatchObject({
    edges: [{ node: { name: "z.txt", md5: "0" } }, { node: { name: "é.txt", sizeBytes: 6 } }],
    pageInfo: { hasNextPage: false },
  })
  const [missing] = await filesOf(names, '(names: ["no.txt"])')
  expect((await request("GET", missing?.directUrl ?? "")).statusCode).toBe(404)
  expect(await readRun(opened.acme, names, "fileCount")).toEqual({ fileCount: 2 })
})

test.each([
  "../up.txt",
  "a\\..\\..\\up.txt",
  "C:\\x",
  "./c:x",
  "/etc/passwd",
  ".//etc/passwd",
  "a/../../b",
  "./",
  "x".repeat(1025),
  "字".repeat(683),
  "half\ud800",
  "nul\0",
])(
  "platform-wandb 8: no file is stored, or named as missing, under %j, which is no path inside the run",
  async (name) => {
    const names = await newRun()
    await expect(uploadAddress(opened.acme, names, name)).rejects.toThrow("files")
    const query = `query($entity: String!, $project: String!, $run: String!, $names: [String!]!) {
      project(name: $project, entityName: $entity) {
        run(name: $run) { files(names: $names) { edges { node { name uploadUrl } } } }
      }
    }`
    const { data } = await ask(opened.acme, query, { ...names, names: ["no.txt", name] })
    expect(data).toMatchObject({ project: { run: { files: { edges: [{ node: { name: "no.txt" } }] } } } })
    const alone = await ask(opened.acme, query, { ...names, names: [name] })
    expect(alone.data).toEqual({ project: { run: { files: { edges: [] } } } })
  },
)

test("platform-wandb 8: files are deleted all or none, and by their own team only", async () => {
  const names = await newRun()
  for (const name of ["a", "b"]) await uploadRunFile(opened, opened.acme, names, { name, text: `content of ${name}` })
  const ids = await runFileIds(opened.acme, names)
  const remove = (caller: typeof opened.acme, files: string[]) =>
    ask(caller, "mutation($files: [ID!]!) { deleteFiles(input: { files: $files, projectId: 7 }) { success } }", {
      files,
    })
  for (const [caller, files] of [
    [opened.rival, ids],
    [opened.acme, [...ids, "nothing"]],
  ] as const) {
    expect((await remove(caller, [...files])).errors?.[0]?.message).toContain("none was deleted")
  }
  expect(await filesOf(names)).toHaveLength(2)
  expect((await remove(opened.acme, ids)).data).toEqual({ deleteFiles: { success: true } })
  expect(await filesOf(names)).toEqual([])
})

test("law 8: files that several requests delete at the same time are given back once", async () => {
  const names = await newRun()
  const before = await stored()
  await uploadRunFile(opened, opened.acme, names, { name: "large", text: "x".repeat(100_000) })
  expect(await stored()).toBe(before + 100_000)
  const files = await runFileIds(opened.acme, names)
  const removal = "mutation($files: [ID!]!) { deleteFiles(input: { files: $files }) { success } }"
  await Promise.all(Array.from({ length: 8 }, () => ask(opened.acme, removal, { files })))
  expect(await stored()).toBe(before)
})

test("platform-wandb 8: as many files as one request may name are deleted", async () => {
  const names = await newRun()
  const { catalog } = opened.app.stores
  await uploadRunFile(opened, opened.acme, names, { name: "first", text: "content" })
  await sql`insert into run_files (run_id, name, sha256, md5, size_bytes, mimetype)
    select f.run_id, f.name || n, f.sha256, f.md5, f.size_bytes, f.mimetype
    from run_files f join runs r on r.id = f.run_id, generate_series(1, 9999) as n where r.name = ${names.run}`.execute(
    catalog,
  )
  const { rows } = await sql<{ id: string }>`
    select f.id from run_files f join runs r on r.id = f.run_id where r.name = ${names.run}`.execute(catalog)
  const files = rows.map(({ id }) => Buffer.from(`RunFile:${id}`).toString("base64"))
  const removal = "mutation($files: [ID!]!) { deleteFiles(input: { files: $files }) { success } }"
  expect((await ask(opened.acme, removal, { files })).data).toEqual({ deleteFiles: { success: true } })
  expect([files.length, await readRun(opened.acme, names, "fileCount")]).toEqual([10_000, { fileCount: 0 }])
})

test("platform-wandb 5.11: a deleted run is gone with its files, and its name begins anew", async () => {
  const names = await newRun()
  const address = await uploadAddress(opened.acme, names, "late.txt")
  await uploadRunFile(opened, opened.acme, names, { name: "x.txt", text: "content of a deleted run" })
  const { id } = await readRun(opened.acme, names, "id")
  const remove = "mutation($id: ID!) { deleteRun(input: { id: $id, deleteArtifacts: false }) { clientMutationId } }"
  expect((await ask(opened.acme, remove, { id })).errors).toBeUndefined()
  expect((await request("PUT", address, "late")).statusCode).toBe(404)
  expect(await opened.app.stores.blobs.has(await sha256("content of a deleted run"))).toBe(false)
  await startRun(opened.acme, names)
  expect(await readRun(opened.acme, names, "fileCount historyLineCount")).toEqual({ fileCount: 0, historyLineCount: 0 })
})

test("platform-wandb 5.11: what a deleted run has logged is removed, counts no more for its team, and other runs stay", async () => {
  const { catalog, traces } = opened.app.stores
  const before = await stored()
  const runs = await Promise.all(
    ["a secret that was printed ".repeat(40_000), "a line"].map(async (line) => {
      const names = await newRun()
      const history = { offset: 0, content: ['{"_step":0,"loss":1}'] }
      const files = { "wandb-history.jsonl": history, "output.log": { offset: 0, content: [line] } }
      expect((await opened.acme.post(streamPath(names), { files })).status).toBe(200)
      const row = await catalog
        .selectFrom("runs")
        .select(["id", "project_id"])
        .where("name", "=", names.run)
        .executeTakeFirstOrThrow()
      return { names, ...row }
    }),
  )
  const [gone = expect.unreachable(), kept = expect.unreachable()] = runs
  const rowsOf = async ({ id }: { id: string }) => {
    const [row] = await traces.rows<{ count: string }>(
      `select (select count() from run_history where run_id = {id:UUID}) + (select count() from run_lines where run_id = {id:UUID}) as count`,
      { id },
    )
    return Number(row?.count)
  }
  const collect = (until: Date) => collectRuns(opened.app.stores, until)
  const yesterday = new Date(Date.now() - 86_400_000)
  expect(await collect(yesterday)).toBe(false)
  const global = (await readRun(opened.acme, gone.names, "id"))["id"]
  const remove = "mutation($id: ID!) { deleteRun(input: { id: $id }) { clientMutationId } }"
  expect((await ask(opened.acme, remove, { id: global })).errors).toBeUndefined()
  expect(await collect(yesterday)).toBe(true)
  expect([await rowsOf(gone), await rowsOf(kept)]).toEqual([0, 2])
  await expect.poll(stored, { timeout: 120_000, interval: 100 }).toBeLessThan(before + 100_000)

  // Of a request that had found the run before.
  const late = { project_id: gone.project_id, run_id: gone.id, file: "console", segment: "", line: 1, text: "late" }
  await insertRunLines(traces, gone.project_id, Buffer.from(JSON.stringify(late)))
  expect(await rowsOf(gone)).toBe(1)
  expect(await collect(new Date())).toBe(true)
  expect([await rowsOf(gone), await rowsOf(kept)]).toEqual([0, 2])
  expect(await catalog.selectFrom("deleted_runs").selectAll().where("id", "=", gone.id).execute()).toEqual([])
}, 240_000)

test("an address is good for its own use and its own file, which stays inside the run", async () => {
  const names = await newRun()
  const store = await uploadAddress(opened.acme, names, "x.txt")
  expect((await request("GET", store.replace("/upload/", "/direct/"))).statusCode).toBe(404)
  expect((await request("PUT", `${store}x`, "content")).statusCode).toBe(404)
  const tooLarge = await request("PUT", store, Buffer.alloc(2 * 1024 * 1024))
  expect([tooLarge.statusCode, tooLarge.json()]).toMatchObject([
    413,
    { errors: [{ message: expect.stringContaining("1048576") as string }] },
  ])
  expect(await filesOf(names)).toEqual([])
  for (const name of ["../x", "/etc/x", "a/../../x", ""]) {
    await expect(uploadAddress(opened.acme, names, name)).rejects.toThrow("createRunFiles: files.0")
  }
})

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", Buffer.from(text))
  return Buffer.from(digest).toString("hex")
}

test("security 5.3: a key reads a run without an address to store at, unless it may ask for one by createRunFiles", async () => {
  const names = await newRun()
  await uploadRunFile(opened, opened.acme, names, { name: "config.yaml", text: "as logged" })
  const asked = 'files(names: ["config.yaml", "new.txt"]) { edges { node { uploadUrl url(upload: true) directUrl } } }'
  const addresses = async (caller: typeof opened.acme) => {
    const { files } = await readRun(caller, names, asked)
    return (files as { edges: { node: Record<string, string | null> }[] }).edges.map(({ node }) => node)
  }
  const held = async (scope: string) => {
    const made = await opened.acme.post("/v1/organization/api_keys", { name: scope, scope })
    return evaluationCaller(() => opened.app, { ...opened.acme, key: (made.body as { value: string }).value })
  }
  const shown = { uploadUrl: null, url: null, directUrl: expect.any(String) as string }
  for (const scope of ["train", "label", "read"]) expect(await addresses(await held(scope))).toEqual([shown, shown])

  const [own] = await addresses(opened.acme)
  expect((await request("PUT", new URL(own?.["uploadUrl"] ?? "").pathname, "by its maker")).statusCode).toBe(200)
  const added = await uploadAddress(await held("ingest"), names, "added.txt")
  expect((await request("PUT", added, "by a program")).statusCode).toBe(200)
})

test("security 5.3: an address stores only while its maker may write there, and shows only while the maker is in the team", async () => {
  const names = await newRun()
  const maker = await opened.addColleague("maker-of-addresses")
  const upload = await uploadAddress(maker, names, "a.txt")
  expect((await request("PUT", upload, "theirs")).statusCode).toBe(200)
  const { files } = await readRun(maker, names, "files { edges { node { directUrl } } }")
  const [file] = (files as { edges: { node: { directUrl: string } }[] }).edges
  const direct = new URL(file?.node.directUrl ?? "").pathname
  const member = "/v1/organization/teams/acme/members/maker-of-addresses"
  expect((await opened.admin.post(member, { role: "viewer" })).status).toBe(200)
  const refused = await request("PUT", upload, "theirs again")
  expect([refused.statusCode, refused.payload]).toEqual([
    404,
    expect.stringContaining("its user may not write there any more; ask for the file's address again"),
  ])
  expect((await request("GET", direct)).payload).toBe("theirs")
  expect((await opened.admin.delete(member)).status).toBe(200)
  expect((await request("GET", direct)).statusCode).toBe(404)
})

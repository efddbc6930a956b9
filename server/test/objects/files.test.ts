/** Files of a project through the public surface: evaluation-store-calls 7. */
import { Readable } from "node:stream"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
let acme: EvaluationCaller
beforeAll(async () => {
  opened = await openEvaluationApp()
  acme = opened.acme
})
afterAll(() => opened.close())

type Part = [name: string, value: string | Buffer]

const boundary = "----parts-of-the-test"

function form(parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap(([name, value]) => [
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${typeof value === "string" ? "" : '; filename="blob"\r\ncontent-type: application/octet-stream'}\r\n\r\n`,
    value,
    "\r\n",
  ])
  return Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)))
}

const upload = (path: string, parts: readonly Part[], caller = acme) =>
  caller.post(path, form(parts), { "content-type": `multipart/form-data; boundary=${boundary}` })

async function content(path: string, project_id: string, digest: string, caller = acme) {
  const answer = await opened.app.server.inject({
    method: "POST",
    url: path,
    headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
    payload: JSON.stringify({ project_id, digest }),
  })
  const { "content-type": type, "content-disposition": disposition } = answer.headers
  return { status: answer.statusCode, bytes: answer.rawPayload, type, disposition }
}

/** SHA-256 of `file 6` in the form of objects 13. */
const digest = "Ai6AvTKMp6sw9LWzhH9eRtH0YeXacJYV7osgUMfWzBU"

describe("calls 7: files", () => {
  test.each(["/file", "/files"])("%s: what was sent comes back under its digest, byte for byte", async (prefix) => {
    const project = acme.newProject()
    const stored = await upload(`${prefix}/create`, [
      ["project_id", project],
      ["file", Buffer.from("file 6")],
    ])
    expect([stored.status, stored.body]).toEqual([200, { digest }])
    for (const path of ["/file/content", "/files/content"]) {
      expect(await content(path, project, digest)).toEqual({
        status: 200,
        bytes: Buffer.from("file 6"),
        type: "application/octet-stream",
        disposition: "attachment",
      })
    }
  })

  test("a file that is asked for while its user uploads it comes once it is there", async () => {
    const project = acme.newProject()
    await acme.post("/obj/create", { obj: { project_id: project, object_id: "o", val: { files: { f: digest } } } })
    const whole = form([
      ["project_id", project],
      ["file", Buffer.from("file 6")],
    ])
    const begun = Promise.withResolvers<void>()
    const rest = Promise.withResolvers<void>()
    const slowly = async function* () {
      yield whole.subarray(0, 80)
      begun.resolve()
      await rest.promise
      yield whole.subarray(80)
    }
    const uploading = opened.app.server.inject({
      method: "POST",
      url: "/files/create",
      headers: { authorization: `Bearer ${acme.key}`, "content-type": `multipart/form-data; boundary=${boundary}` },
      payload: Readable.from(slowly()),
    })
    await begun.promise
    const asked = content("/files/content", project, digest)
    const colleague = await opened.addColleague("reader")
    expect((await content("/files/content", project, digest, colleague)).status).toBe(404)
    rest.resolve()
    expect(await asked).toMatchObject({ status: 200, bytes: Buffer.from("file 6") })
    expect((await uploading).statusCode).toBe(200)
  })

  test("parts come in any order, the same file any number of times", async () => {
    const project = acme.newProject()
    const file: Part = ["file", Buffer.from("file 6")]
    const forms: Part[][] = [
      [["expected_digest", digest], file, ["project_id", project]],
      [file, ["project_id", project], ["expected_digest", digest]],
      [["project_id", project], ["expected_digest", digest], file],
    ]
    for (const parts of forms) expect((await upload("/file/create", parts)).body).toEqual({ digest })
    expect((await acme.post("/files/query_stats", { project_id: project })).body).toEqual({ total_size_bytes: 6 })
  })

  test("files of any bytes and sizes come back: empty, all 256 bytes, 5 MB", async () => {
    const project = acme.newProject()
    const files = [
      Buffer.alloc(0),
      Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
      Buffer.alloc(5_000_000, "ab\r\n--"),
    ]
    for (const file of files) {
      const stored = await upload("/files/create", [
        ["project_id", project],
        ["file", file],
      ])
      expect(stored.status).toBe(200)
      const { bytes } = await content("/files/content", project, (stored.body as { digest: string }).digest)
      expect(bytes.equals(file)).toBe(true)
    }
    expect((await acme.post("/files/query_stats", { project_id: project })).body).toEqual({
      total_size_bytes: 5_000_256,
    })
  })

  test("another digest than the client's is 409, and nothing is stored", async () => {
    const project = acme.newProject()
    const sent = Buffer.from(`only here ${project}`)
    const wrong = await upload("/file/create", [
      ["project_id", project],
      ["expected_digest", digest],
      ["file", sent],
    ])
    expect([wrong.status, (wrong.body as { error_type: string }).error_type]).toEqual([409, "DigestMismatchError"])
    const right = await upload("/file/create", [
      ["project_id", project],
      ["file", Buffer.from("other")],
    ])
    expect(right.status).toBe(200)
    expect((await acme.post("/files/query_stats", { project_id: project })).body).toEqual({ total_size_bytes: 5 })
  })

  test("a missing field is named, an unknown digest is 404, another content type 415", async () => {
    const project = acme.newProject()
    const file: Part = ["file", Buffer.from("x")]
    expect((await upload("/file/create", [file])).body).toMatchObject({
      detail: [{ loc: ["body", "project_id"], type: "missing" }],
    })
    expect((await upload("/file/create", [["project_id", project]])).body).toMatchObject({
      detail: [{ loc: ["body", "file"], type: "missing" }],
    })
    expect((await acme.post("/file/create", { project_id: project })).status).toBe(415)
    await upload("/file/create", [["project_id", project], file])
    const missing = await acme.post("/file/content", { project_id: project, digest })
    expect([missing.status, missing.body]).toEqual([
      404,
      { reason: `File ${digest} not found`, error_type: "NotFoundError" },
    ])
  })
})

describe("calls 7: a file for a page", () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
  const store = async (project: string, file: Buffer) => {
    const parts: Part[] = [
      ["project_id", project],
      ["file", file],
    ]
    return ((await upload("/file/create", parts)).body as { digest: string }).digest
  }
  const shown = (query: Record<string, string>, headers: Record<string, string> = {}, caller = acme) =>
    opened.app.server.inject({
      url: `/files/content?${new URLSearchParams(query).toString()}`,
      headers: { authorization: `Bearer ${caller.key}`, ...headers },
    })

  test("comes under the type that was asked for, and no browser takes it for a page", async () => {
    const project_id = acme.newProject()
    const query = { project_id, digest: await store(project_id, svg) }
    const answer = await shown({ ...query, type: "image/svg+xml", name: 'ä"\r\n.svg' })
    expect([answer.statusCode, answer.rawPayload.equals(svg)]).toEqual([200, true])
    expect(answer.headers).toMatchObject({
      "content-type": "image/svg+xml",
      "content-length": `${svg.length}`,
      "content-disposition": "attachment; filename*=UTF-8''%C3%A4%22%0D%0A.svg",
      "content-security-policy": "default-src 'none'; sandbox",
      "cross-origin-resource-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    })
    expect((await shown(query)).headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment",
    })
  })

  test.each(["text/html", "application/xhtml+xml", "text/xml", "application/pdf", "image/png, text/html", ""])(
    "the type %j is refused",
    async (type) => {
      const project_id = acme.newProject()
      const query = { project_id, digest: await store(project_id, svg) }
      expect((await shown({ ...query, type })).statusCode).toBe(422)
    },
  )

  test("a part of it is 206, and what is no part of it is all of it", async () => {
    const project_id = acme.newProject()
    const query = { project_id, digest: await store(project_id, Buffer.from("file 6")) }
    const part = await shown(query, { range: "bytes=1-3" })
    expect([part.statusCode, part.payload, part.headers["content-range"], part.headers["content-length"]]).toEqual([
      206,
      "ile",
      "bytes 1-3/6",
      "3",
    ])
    const whole = await shown(query, { range: "bytes=6-" })
    expect([whole.statusCode, whole.payload]).toEqual([200, "file 6"])
  })

  test("security 5.3: a digest of another project opens nothing", async () => {
    const { rival } = opened
    const [mine, theirs] = [acme.newProject(), rival.newProject()]
    const secret = await store(mine, Buffer.from(`shown secret of ${mine}`))
    await upload(
      "/file/create",
      [
        ["project_id", theirs],
        ["file", Buffer.from("own")],
      ],
      rival,
    )
    expect((await shown({ project_id: theirs, digest: secret }, {}, rival)).statusCode).toBe(404)
    expect((await shown({ project_id: mine, digest: secret }, {}, rival)).statusCode).toBe(403)
    expect(
      (await opened.app.server.inject({ url: `/files/content?project_id=${mine}&digest=${secret}` })).statusCode,
    ).toBe(401)
  })
})

test("security 5.3: a file is seen in its project only, even where the digest is known", async () => {
  const { rival } = opened
  const [mine, theirs] = [acme.newProject(), rival.newProject()]
  const secret = Buffer.from(`secret of ${mine}`)
  const stored = await upload("/file/create", [
    ["project_id", mine],
    ["file", secret],
  ])
  const { digest: known } = stored.body as { digest: string }
  await upload(
    "/file/create",
    [
      ["project_id", theirs],
      ["file", Buffer.from("own")],
    ],
    rival,
  )
  expect((await content("/file/content", theirs, known, rival)).status).toBe(404)
  expect((await content("/file/content", mine, known, rival)).status).toBe(403)
  expect(
    (
      await upload(
        "/file/create",
        [
          ["project_id", mine],
          ["file", Buffer.from("x")],
        ],
        rival,
      )
    ).status,
  ).toBe(403)
  expect((await rival.post("/files/query_stats", { project_id: mine })).status).toBe(403)
  await upload(
    "/file/create",
    [
      ["project_id", theirs],
      ["file", secret],
    ],
    rival,
  )
  expect((await content("/file/content", theirs, known, rival)).bytes).toEqual(secret)
})

test("law 1: a file is there after a restart", async () => {
  const project = acme.newProject()
  await upload("/file/create", [
    ["project_id", project],
    ["file", Buffer.from("file 6")],
  ])
  await opened.restart()
  expect((await content("/files/content", project, digest)).bytes).toEqual(Buffer.from("file 6"))
})

/** Deleting a project removes everything in it and nothing else, and frees its name. */
import { readdir } from "node:fs/promises"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { defaultLimits } from "../../src/limits.ts"
import { deleteProject } from "../../src/storage/catalog/accounts/deleted-projects.ts"
import type { EvaluationCaller } from "../support/evaluation-app.ts"
import { answering, callsOf, type ExecutionApp, openExecutionApp } from "../support/execution-app.ts"
import { fillTeam, formOf, type TeamWorld } from "../support/isolation/team-world.ts"
import { idsOfProject, rowsNaming } from "../support/project-state.ts"
import { groupsOf } from "../support/training-app.ts"

let opened: ExecutionApp
beforeAll(async () => {
  opened = await openExecutionApp({ limits: { ...defaultLimits, sign_in_failures_per_minute: 10_000 } })
}, 300_000)
afterAll(() => opened.close())

const slow = { timeout: 120_000, interval: 100 }
const stores = () => opened.app.stores

async function idOf(name: string): Promise<string> {
  const [entity = "", project = ""] = name.split("/")
  const { body } = await opened.admin.get(`/v1/projects?entity=${entity}&query=${project}`)
  const listed = (body as { data: { id: string; name: string }[] }).data.find((one) => one.name === project)
  if (listed !== undefined) return listed.id
  const row = await stores()
    .catalog.selectFrom("projects")
    .select("id")
    .where("name", "=", project)
    .executeTakeFirstOrThrow()
  return row.id
}

const remove = (caller: EvaluationCaller, name: string) => caller.delete(`/v1/projects/${name}`)

async function removed(ids: readonly string[]): Promise<void> {
  await expect.poll(() => rowsNaming(stores(), ids), slow).toEqual({})
}

async function blobsOnDisk(): Promise<string[]> {
  const blobs: string[] = []
  for await (const some of stores().blobs.list()) blobs.push(...some)
  return blobs.toSorted()
}

const filesIn = async (folder: string) =>
  readdir(path.join(opened.config.dataDir, folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return []
    throw error
  })

/** The used amount of each quota of the team, by the quota's name. */
async function used(team: string): Promise<Record<string, number | null>> {
  const { body } = await opened.admin.get(`/v1/organization/teams/${team}/quotas`)
  const { quotas } = body as { quotas: { name: string; used: number | null }[] }
  return Object.fromEntries(quotas.map(({ name, used: amount }) => [name, amount]))
}

async function putFile({ key }: EvaluationCaller, project_id: string, text: string): Promise<string> {
  const { type, payload } = await formOf({ file: text, project_id })
  const headers = { authorization: `Bearer ${key}`, "content-type": type }
  const answer = await opened.app.server.inject({ method: "POST", url: "/file/create", headers, payload })
  expect(answer.statusCode).toBe(200)
  return answer.json<{ digest: string }>().digest
}

describe("a project that holds everything, beside another team's that does", () => {
  let red: TeamWorld
  let blue: TeamWorld
  let redIds: string[]
  let blueIds: string[]
  let blueBlobs: string[]
  let blueRows: Record<string, number>
  beforeAll(async () => {
    blue = await fillTeam(opened, opened.rival)
    blueBlobs = await blobsOnDisk()
    red = await fillTeam(opened, opened.acme)
    redIds = await idsOfProject(stores(), await idOf(red.handles.projectId))
    blueIds = await idsOfProject(stores(), await idOf(blue.handles.projectId))
    // The tokens of chats are counted a moment after their answers.
    blueRows = await vi.waitUntil(async () => {
      const rows = await rowsNaming(stores(), blueIds)
      return "traces token_ledger" in rows && rows
    }, slow)
    expect(Object.keys(await rowsNaming(stores(), redIds)).length).toBeGreaterThan(20)
  }, 300_000)

  test("another team's project is answered as one that is not there, and stays", async () => {
    const { entity, project } = red.handles
    const other = await remove(blue.caller, `${entity}/${project}`)
    const none = await remove(blue.caller, `${entity}/nothing`)
    expect([other.status, other.text.replaceAll(project, "nothing")]).toEqual([404, none.text])
    expect((await remove(blue.caller, "nobody/nothing")).status).toBe(404)
    expect((await red.caller.post("/project/stats", { project_id: red.handles.projectId })).status).toBe(200)
  })

  test("nothing of it is found once the deletion is answered", async () => {
    const { caller, handles } = red
    const { entity, project, projectId: project_id } = handles
    const answer = await remove(caller, project_id)
    expect(answer.body).toEqual({ id: redIds[0], object: "project", deleted: true })
    const missing = [
      await caller.post("/call/read", { project_id, id: handles.callId }),
      await caller.post("/obj/read", { project_id, object_id: handles.objectId, digest: handles.objectDigest }),
      await caller.post("/project/stats", { project_id }),
      await caller.get(`/v1/preview/models/${handles.modelId}/checkpoints`),
      await caller.get(`/v1/preview/training-jobs/${handles.jobId}`),
      await caller.delete(`/v1/preview/models/${handles.modelId}`),
      await caller.get(`/files/${project_id}/${handles.wandbRunName}/${handles.wandbFile}`),
      await caller.post("/v1/chat/completions", {
        model: handles.artifact,
        messages: [{ role: "user", content: "x" }],
      }),
      await caller.post("/v1/messages", {
        model: handles.artifact,
        max_tokens: 1,
        messages: [{ role: "user", content: "x" }],
      }),
      await caller.post("/v1/responses", { model: handles.artifact, input: "x" }),
      await caller.get(`/v1/responses/${handles.responseId}`),
    ]
    expect(missing.map(({ status }) => status)).toEqual([403, 403, 403, ...Array.from({ length: 8 }, () => 404)])
    expect((await caller.get(`/v1/projects?entity=${entity}`)).body).toMatchObject({ data: [] })
    expect((await caller.get(`/v1/preview/training-jobs?entity=${entity}`)).body).toMatchObject({ data: [] })
    expect((await caller.get(`/v1/preview/models?entity=${entity}`)).body).toMatchObject({ data: [] })
    expect(await used(entity)).toMatchObject({ projects: 0, models: 0, open_jobs: 0 })
    const again = await remove(caller, project_id)
    expect([again.status, again.text.includes(project)]).toEqual([404, true])
  })

  test("every row, file and blob of it goes; the team gets its room back", async () => {
    await removed(redIds)
    expect(await filesIn(`checkpoints/${red.handles.modelId}`)).toEqual([])
    expect(await filesIn("jobs")).toEqual([])
    const uploads = await stores()
      .catalog.selectFrom("uploads")
      .select(["sha256", "size_bytes"])
      .where("id", "=", red.handles.uploadId.replace("file-", ""))
      .execute()
    await expect
      .poll(blobsOnDisk, slow)
      .toEqual([...new Set([...blueBlobs, ...uploads.map(({ sha256 }) => sha256)])].toSorted())
    const kept = uploads.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    await expect.poll(async () => (await used(red.handles.entity))["stored_bytes"], slow).toBe(kept)
  })

  test("the other team's is as it was", async () => {
    expect(await rowsNaming(stores(), blueIds)).toEqual(blueRows)
    const { caller, handles } = blue
    expect((await caller.post("/call/read", { project_id: handles.projectId, id: handles.callId })).text).toContain(
      handles.callId,
    )
    expect(await filesIn(`checkpoints/${handles.modelId}`)).toHaveLength(2)
  })

  test("the record of changes says who deleted the project, and how much was in it", async () => {
    const { body } = await opened.admin.get("/v1/organization/audit_logs?event_types[]=project.deleted")
    const [entry] = (body as { data: object[] }).data
    expect(entry).toMatchObject({
      team: red.handles.entity,
      outcome: "succeeded",
      actor: { api_key: { user: { username: red.handles.entity } } },
      "project.deleted": { project: red.handles.project, models: 1, training_jobs: 2, runs: 2, annotation_queues: 1 },
    })
  })
})

describe("the right to delete a project", () => {
  const make = async () => {
    const name = opened.acme.newProject()
    await putFile(opened.acme, name, "content")
    return name
  }

  test("a member of the team who did not make it, and an administrator", async () => {
    const colleague = await opened.addColleague("deleter")
    expect((await remove(colleague, await make())).status).toBe(200)
    expect((await opened.admin.delete(`/v1/projects/${await make()}`)).status).toBe(200)
  })

  test("nobody without a key", async () => {
    const name = await make()
    const answer = await opened.app.server.inject({ method: "DELETE", url: `/v1/projects/${name}` })
    expect(answer.statusCode).toBe(401)
  })
})

test("the name is free: a new project of it is empty, and nothing of the old one is there", async () => {
  const project_id = opened.acme.newProject()
  const digest = await putFile(opened.acme, project_id, "of the old one")
  await opened.acme.post("/obj/create", { obj: { project_id, object_id: "o", val: { old: true } } })
  const old = await idOf(project_id)
  const ids = await idsOfProject(stores(), old)
  expect((await remove(opened.acme, project_id)).status).toBe(200)
  const created = await opened.acme.post("/obj/create", { obj: { project_id, object_id: "o", val: { new: true } } })
  expect(created.status).toBe(200)
  expect(await idOf(project_id)).not.toBe(old)
  expect((await opened.acme.post("/file/content", { project_id, digest })).status).toBe(404)
  const versions = await opened.acme.post("/objs/query", { project_id })
  expect((versions.body as { objs: { version_index: number; val: unknown }[] }).objs).toMatchObject([
    { version_index: 0, val: { new: true } },
  ])
  await removed(ids)
  expect((await opened.acme.post("/objs/query", { project_id })).body).toEqual(versions.body)
})

test("a blob that another project names too stays", async () => {
  const [one, other] = [opened.acme.newProject(), opened.acme.newProject()]
  const text = `shared ${one}`
  const digest = await putFile(opened.acme, one, text)
  await putFile(opened.acme, other, text)
  const ids = await idsOfProject(stores(), await idOf(one))
  await remove(opened.acme, one)
  await removed(ids)
  const content = await opened.acme.post("/file/content", { project_id: other, digest })
  expect([content.status, content.text.trim()]).toEqual([200, text])
})

test("rows that are stored late under the old id are removed too", async () => {
  const project_id = opened.acme.newProject()
  await putFile(opened.acme, project_id, "early")
  const id = await idOf(project_id)
  await remove(opened.acme, project_id)
  await removed([id])
  // Writes as a request does that found the project before it was deleted.
  await stores().traces.insert("token_prices", JSON.stringify({ project_id: id, id: "late" }))
  await stores()
    .catalog.insertInto("models")
    .values({ project_id: id, name: "late", base_model: "heddle/tiny", base_path: null, run_id: "late" })
    .execute()
  expect(Object.keys(await rowsNaming(stores(), [id]))).toHaveLength(2)
  const next = opened.acme.newProject()
  await putFile(opened.acme, next, "next")
  await remove(opened.acme, next)
  await removed([id])
})

test("a deletion through another server is heard of within seconds", async () => {
  const project_id = opened.acme.newProject()
  await putFile(opened.acme, project_id, "there")
  const { id, entity_id } = await stores()
    .catalog.selectFrom("projects")
    .select(["id", "entity_id"])
    .where("name", "=", project_id.split("/")[1] ?? "")
    .executeTakeFirstOrThrow()
  // The other server deletes the project in the catalog that both share.
  expect(await deleteProject(stores().catalog, entity_id, project_id.split("/")[1] ?? "")).toMatchObject({ id })
  const stats = async () => (await opened.acme.post("/project/stats", { project_id })).status
  await expect.poll(stats, slow).toBe(403)
})

test("a completion that was being recorded does not make the project again", async () => {
  const project_id = opened.acme.newProject()
  const { promise: asked, resolve: wasAsked } = Promise.withResolvers<void>()
  const { promise: goOn, resolve: answer } = Promise.withResolvers<void>()
  const chat = answering(() => "late")
  opened.fake.handlers.chat = async (params, call) => {
    wasAsked()
    await goOn
    return chat(params, call)
  }
  await putFile(opened.acme, project_id, "there")
  const ids = await idsOfProject(stores(), await idOf(project_id))
  const inputs = { model: "heddle/tiny", messages: [{ role: "user", content: "q" }] }
  const completion = opened.acme.post("/completions/create", { project_id, inputs })
  await asked
  expect((await remove(opened.acme, project_id)).status).toBe(200)
  answer()
  await completion
  expect((await opened.acme.post("/project/stats", { project_id })).status).toBe(403)
  // Nothing of the old project is in a new one with its name, either.
  await putFile(opened.acme, project_id, "new")
  expect(await callsOf(opened.acme, project_id)).toEqual([])
  await removed(ids)
})

test("a training job that runs is cancelled, and what it wrote goes", async () => {
  const { train } = opened.fake.handlers
  const { promise: began, resolve: hasBegun } = Promise.withResolvers<AbortSignal>()
  opened.fake.handlers.train = async (_params, call) => {
    hasBegun(call.cancelled)
    await sleep(60_000, undefined, { signal: call.cancelled }).catch(() => undefined)
    throw new Error("cancelled")
  }
  const project_id = opened.acme.newProject()
  const project = project_id.split("/")[1]
  const model = await opened.acme.post("/v1/preview/models", { project, name: "m", base_model: "heddle/tiny" })
  const { id: model_id } = model.body as { id: string }
  const job = await opened.acme.post("/v1/preview/training-jobs", { model_id, trajectory_groups: groupsOf([0, 1]) })
  const { id: jobId } = job.body as { id: string }
  const cancelled = await began
  const ids = await idsOfProject(stores(), await idOf(project_id))
  expect(ids).toContain(jobId)
  expect((await remove(opened.acme, project_id)).status).toBe(200)
  expect((await opened.acme.get(`/v1/preview/training-jobs/${jobId}`)).status).toBe(404)
  await expect.poll(() => cancelled.aborted, slow).toBe(true)
  await removed(ids)
  expect(await filesIn("jobs")).toEqual([])
  expect(await filesIn("checkpoints")).not.toContain(model_id)
  if (train !== undefined) opened.fake.handlers.train = train
})

test("a project without rows, and names that no project can have", async () => {
  const name = `empty-${opened.acme.newProject().split("/")[1]}`
  await opened.acme.post("/v1/projects", { entity: "acme", name })
  expect((await remove(opened.acme, `acme/${name}`)).status).toBe(200)
  for (const odd of ["acme/%00", "acme/a%2Fb", "%00/x", `acme/${"x".repeat(300)}`]) {
    expect([odd, (await remove(opened.acme, odd)).status]).toEqual([odd, 404])
  }
})

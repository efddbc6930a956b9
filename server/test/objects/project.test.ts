import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { projectStatsAnswer } from "../../src/wire/objects/project.ts"
import { strictly } from "../support/answers.ts"
import { completedCall, uuid } from "../support/completed-call.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

async function stats(project: string, fields: Record<string, unknown> = {}) {
  return strictly(projectStatsAnswer, await opened.acme.post("/project/stats", { project_id: project, ...fields }))
}

describe("objects 10: projects", () => {
  test("stats: bytes of payloads of live calls, live objects and rows, each once", async () => {
    const project = opened.acme.newProject()
    const batch = [completedCall(project, { id: 1, usage: "é" }), completedCall(project, { id: 2 })]
    await opened.acme.post(`/v2/${project}/calls/complete`, { batch: [...batch, batch[0]] })
    const table = { project_id: project, rows: [{ a: 1 }, { a: 1 }] }
    await opened.acme.post("/table/create", { table })
    for (const object_id of ["kept", "gone"]) {
      await opened.acme.post("/obj/create", { obj: { project_id: project, object_id, val: { text: "12" } } })
    }
    await opened.acme.post("/obj/delete", { project_id: project, object_id: "gone", digests: null })
    const whole = await stats(project)
    expect(whole).toEqual({
      // Twice the attributes {}, the inputs {} and the output null; the summaries {"usage":"é"} and {}.
      trace_storage_size_bytes: 2 * (2 + 2 + 4) + 14 + 2,
      objects_storage_size_bytes: '{"text":"12"}'.length,
      tables_storage_size_bytes: '{"a":1}'.length,
      files_storage_size_bytes: 0,
    })
    await opened.acme.post("/calls/delete", { project_id: project, call_ids: [uuid(1), uuid(2)] })
    expect(await stats(project)).toEqual({ ...whole, trace_storage_size_bytes: 0 })
  })

  test("stats: figures that are not asked for are 0", async () => {
    const project = opened.acme.newProject()
    await opened.acme.post(`/v2/${project}/calls/complete`, { batch: [completedCall(project, { id: 1 })] })
    // An op is an object, and its source is a file.
    await opened.acme.post(`/v2/${project}/ops`, { name: "f", source_code: "0123456789" })
    await opened.acme.post("/table/create", { table: { project_id: project, rows: [{ a: 1 }] } })
    const whole = await stats(project)
    expect(whole).toMatchObject({ tables_storage_size_bytes: 7, files_storage_size_bytes: 10 })
    expect(Object.values(whole).every((bytes) => bytes > 0)).toBe(true)
    expect(await stats(project, { include_trace_storage_size: null, include_file_storage_size: true })).toEqual(whole)
    for (const [flag, field] of [
      ["include_trace_storage_size", "trace_storage_size_bytes"],
      ["include_object_storage_size", "objects_storage_size_bytes"],
      ["include_table_storage_size", "tables_storage_size_bytes"],
      ["include_file_storage_size", "files_storage_size_bytes"],
    ] as const) {
      expect(await stats(project, { [flag]: false })).toEqual({ ...whole, [field]: 0 })
    }
  })

  test("every call is stored, as it came", async () => {
    const project = opened.acme.newProject()
    await opened.acme.post(`/v2/${project}/calls/complete`, { batch: [completedCall(project, { id: 1 })] })
    const sampling = await opened.acme.post("/project/ingest_sampling_settings/read", { project_id: project })
    expect(sampling.body).toEqual({ dry_run: false, sample_rate: 1 })
    const sensitive = await opened.acme.get(
      `/project/sensitive_data_settings?project_id=${encodeURIComponent(project)}`,
    )
    expect(sensitive.body).toEqual({ policy: "off" })
  })

  test.each(["\0", "\ud800"])("calls 1.1: the name %j is 400, and not another project's", async (name) => {
    const { acme } = opened
    await acme.post("/obj/create", { obj: { project_id: `${acme.entity}/\ufffd`, object_id: "x", val: 1 } })
    const project_id = `${acme.entity}/${name}`
    for (const answer of [
      await acme.post("/project/stats", { project_id }),
      await acme.post("/obj/create", { obj: { project_id, object_id: "x", val: 1 } }),
    ]) {
      expect([answer.status, answer.body]).toMatchObject([400, { reason: expect.stringContaining("project_id") }])
    }
  })

  test("security 5.3: another tenant's project does not exist", async () => {
    const project = opened.acme.newProject()
    await opened.acme.post(`/v2/${project}/calls/complete`, { batch: [completedCall(project, { id: 1 })] })
    for (const path of ["stats", "ttl_settings/read", "ttl_settings/update", "ingest_sampling_settings/read"]) {
      expect((await opened.rival.post(`/project/${path}`, { project_id: project })).status).toBe(403)
    }
    expect((await opened.rival.get(`/project/sensitive_data_settings?project_id=${project}`)).status).toBe(403)
  })
})

/** Makes one of everything that a team can have, through the API, and returns the names and ids. */
import { randomBytes, randomUUID } from "node:crypto"
import { vi } from "vitest"
import { sendSpans, spanId, traceId } from "../agent-spans.ts"
import type { EvaluationApp, EvaluationCaller } from "../evaluation-app.ts"
import { ownPage } from "../browser.ts"
import { groupsOf } from "../training-app.ts"
import { change, createArtifact, logArtifact, md5 } from "../wandb-artifacts.ts"
import { ask, dataOf, runFileIds, startRun, uploadRunFile } from "../wandb-runs.ts"

/** The team's names and ids, and secret texts that only its stored things contain. */
export type TeamWorld = Awaited<ReturnType<typeof fillTeam>>
/** Names and ids for requests, by the kind of thing. */
export type Handles = TeamWorld["handles"]
export type HandleName = keyof Handles

const random = () => randomBytes(5).toString("hex")

/** Fills the team of `caller`, which has nothing yet. */
export async function fillTeam(opened: EvaluationApp, caller: EvaluationCaller) {
  const { entity } = caller
  const secrets: string[] = []
  const secret = (what: string) => {
    const text = `secret-${what}-${random()}`
    secrets.push(text)
    return text
  }
  const name = (what: string) => `${what}-${random()}`
  const must = async <T>(answer: Promise<{ status: number; text: string; body: unknown }>): Promise<T> => {
    const { status, text, body } = await answer
    if (status !== 200) throw new Error(`${status} ${text}`)
    return body as T
  }
  const post = <T>(url: string, body: unknown) => must<T>(caller.post(url, body))
  const project = name("project")
  const project_id = `${entity}/${project}`
  const v2 = `/v2/${project_id}`
  const weave = `weave:///${project_id}`

  const me = await must<{ id: string }>(caller.get("/v1/organization/me"))
  const key = await post<{ id: string }>("/v1/organization/api_keys", { name: secret("key-name") })
  const { session } = await must<{ session: { id: string } }>(
    caller.post("/v1/session", { api_key: caller.key }, ownPage),
  )
  const invitation = await post<{ id: string }>(`/v1/organization/teams/${entity}/invitations`, { role: "viewer" })
  const modelName = name("trained")
  const model = await post<{ id: string }>("/v1/preview/models", {
    project,
    name: modelName,
    base_model: "heddle/tiny",
  })
  const checkpoints = await must<{ data: { id: string }[] }>(caller.get(`/v1/preview/models/${model.id}/checkpoints`))
  const job = await post<{ id: string }>("/v1/preview/training-jobs", {
    model_id: model.id,
    trajectory_groups: groupsOf([0, 1]),
  })
  // The job makes a checkpoint with files, which other teams must not be able to fetch.
  const hasEnded = async (id: string) => {
    const { status } = await must<{ status: string }>(caller.get(`/v1/preview/training-jobs/${id}`))
    return status === "succeeded"
  }
  await vi.waitUntil(() => hasEnded(job.id), { timeout: 60_000, interval: 50 })
  const upload = await must<{ id: string }>(postForm(opened, caller, "/v1/files", { file: secret("upload") }))

  const publish = (object_id: string, val: unknown) =>
    post<{ digest: string }>("/obj/create", { obj: { project_id, object_id, val } })
  const objectId = name("object")
  const object = await publish(objectId, { text: secret("object") })
  const [alias, tag] = [name("alias"), name("tag")]
  await must(caller.put(`/objs/${objectId}/aliases`, { project_id, digest: object.digest, aliases: [alias] }))
  await must(caller.put(`/objs/${objectId}/versions/${object.digest}/tags`, { project_id, tags: [tag] }))
  const specId = name("spec")
  const spec = await post<{ digest: string }>("/obj/create", {
    obj: {
      project_id,
      object_id: specId,
      val: { name: specId, description: secret("spec"), field_schema: { type: "string" } },
      builtin_object_class: "AnnotationSpec",
    },
  })
  type Made = { digest: string; object_id: string }
  const op = await post<Made>(`${v2}/ops`, { name: name("op"), source_code: secret("op") })
  const dataset = await post<Made>(`${v2}/datasets`, { name: name("dataset"), rows: [{ text: secret("row") }] })
  const modelObject = await post<Made>(`${v2}/models`, { name: name("model"), source_code: secret("model") })
  const scorer = await post<Made>(`${v2}/scorers`, { name: name("scorer"), op_source_code: secret("scorer") })
  const ref = ({ object_id, digest }: Made) => `${weave}/object/${object_id}:${digest}`
  const evaluation = await post<Made>(`${v2}/evaluations`, {
    name: name("evaluation"),
    dataset: ref(dataset),
    scorers: [ref(scorer)],
    description: secret("evaluation"),
  })

  const table = await post<{ digest: string; row_digests: string[] }>("/table/create", {
    table: { project_id, rows: [{ text: secret("table-row") }] },
  })
  const [rowDigest = ""] = table.row_digests
  const file = await must<{ digest: string }>(
    postForm(opened, caller, "/file/create", { file: secret("file"), project_id }),
  )

  const [callId, trace, threadId, displayName] = [randomUUID(), randomUUID(), name("thread"), name("display")]
  await post(`${v2}/calls/complete`, {
    batch: [
      {
        project_id,
        id: callId,
        trace_id: trace,
        thread_id: threadId,
        turn_id: callId,
        op_name: `${weave}/op/${op.object_id}:${op.digest}`,
        display_name: displayName,
        started_at: "2026-03-01T00:00:00Z",
        ended_at: "2026-03-01T00:00:01Z",
        attributes: { text: secret("attributes") },
        inputs: { text: secret("inputs"), object: `${weave}/object/${objectId}:${object.digest}` },
        output: { text: secret("output") },
        summary: { usage: { [secret("usage-model")]: { prompt_tokens: 7, completion_tokens: 9 } } },
      },
    ],
  })
  const specRef = `${weave}/object/${specId}:${spec.digest}`
  const queueName = name("queue")
  const queue = await post<{ id: string }>("/annotation_queues", {
    project_id,
    name: queueName,
    description: secret("queue"),
    scorer_refs: [specRef],
  })
  const words = { kind: "contains", words: [secret("rule")] }
  // The rule is paused, so that calls of tests get no feedback from it.
  const { rule } = await post<{ rule: { id: string } }>("/scoring_rules", {
    project_id,
    name: name("rule"),
    scorer: words,
    active: false,
  })
  const items = `/annotation_queues/${queue.id}/items`
  await post(items, { project_id, call_ids: [callId], display_fields: ["inputs.text"] })
  const listed = await post<{ items: { id: string }[] }>(`${items}/query`, { project_id })
  const itemId = listed.items[0]?.id ?? ""
  const feedback = await post<{ id: string }>("/feedback/create", {
    project_id,
    weave_ref: `${weave}/call/${callId}`,
    feedback_type: `wandb.annotation.${specId}`,
    annotation_ref: specRef,
    queue_id: queue.id,
    payload: { value: secret("feedback") },
  })
  const sourceJob = await post<{ id: string }>("/v1/preview/training-jobs/from-source", {
    model_id: model.id,
    source: { kind: "calls", project_id, filter: { call_ids: [callId] } },
    target: { kind: "sft" },
  })
  await vi.waitUntil(() => hasEnded(sourceJob.id), { timeout: 60_000, interval: 50 })
  const costModel = name("cost-model")
  const costs = { [costModel]: { prompt_token_cost: 1, completion_token_cost: 2 } }
  const cost = await post<{ ids: [string, string][] }>("/cost/create", { project_id, costs })

  const run = await post<{ evaluation_run_id: string }>(`${v2}/evaluation_runs`, {
    evaluation: ref(evaluation),
    model: ref(modelObject),
  })
  const evaluation_run_id = run.evaluation_run_id
  const prediction = await post<{ prediction_id: string }>(`${v2}/predictions`, {
    model: ref(modelObject),
    inputs: { q: secret("question") },
    output: secret("answer"),
    evaluation_run_id,
  })
  const score = await post<{ score_id: string }>(`${v2}/scores`, {
    prediction_id: prediction.prediction_id,
    scorer: ref(scorer),
    value: 0.5,
    evaluation_run_id,
  })
  const [agentName, conversationId] = [name("agent"), name("conversation")]
  const agentTrace = randomBytes(4).toString("hex")
  await sendSpans(caller, project_id, {
    trace: agentTrace,
    id: agentTrace,
    at: 1,
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": agentName,
      "gen_ai.agent.version": "1",
      "gen_ai.conversation.id": conversationId,
      "gen_ai.input.messages": JSON.stringify([
        { role: "user", parts: [{ type: "text", content: secret("message") }] },
      ]),
    },
  })
  const link = await post<{ entries: { link_id: string }[] }>("/dataset_sources/link", {
    project_id,
    dataset_object_id: dataset.object_id,
    dataset_digest: dataset.digest,
    links: [
      {
        row_digest: await firstRow(caller, project_id, dataset),
        sources: [{ source_kind: "call", source_id: callId, source_trace_id: trace }],
        link_metadata: { text: secret("link") },
      },
    ],
  })
  const chat = { model: "heddle/tiny", messages: [{ role: "user", content: "hello" }], user: secret("chat-user") }
  await must(caller.post("/v1/chat/completions", chat, { "openai-project": project_id }))
  const response = await must<{ id: string }>(
    caller.post("/v1/responses", { model: "heddle/tiny", input: secret("response") }, { "openai-project": project_id }),
  )
  const rolloutId = name("rollout")
  const [rolloutGroup, spoken] = [name("rollout-group"), { role: "user", content: secret("turn") }]
  await must(
    caller.post(
      "/v1/chat/completions",
      { ...chat, model: `wandb-artifact:///${project_id}/${modelName}`, messages: [spoken] },
      {
        "openai-project": project_id,
        "x-heddle-rollout-id": rolloutId,
        "x-heddle-rollout-group": rolloutGroup,
      },
    ),
  )
  await post(`/v1/rollouts/${rolloutId}/reward`, { reward: 0.5, reason: secret("reason"), key: secret("reward-key") })
  const runtimeName = name("runtime")
  await must(
    caller.put(`${v2}/runtimes/${runtimeName}`, {
      base_url: "https://models.example.com/v1",
      runtime_ids: [{ id: "m" }],
    }),
  )
  const info = await post<{ internal_project_id: string }[]>("/service/projects_info", { project_ids: [project_id] })

  const wandbRunName = name("wandb-run")
  const wandbRunId = await startRun(caller, { entity, project, run: wandbRunName, config: secret("config") })
  await post(`/files/${project_id}/${wandbRunName}/file_stream`, {
    files: {
      "wandb-history.jsonl": { offset: 0, content: [JSON.stringify({ _step: 0, text: secret("history") })] },
      "wandb-summary.json": { offset: 0, content: [JSON.stringify({ text: secret("summary") })] },
      "output.log": { offset: 0, content: [secret("console")] },
    },
  })
  const wandbFile = `${name("wandb-file")}.txt`
  const runNames = { entity, project, run: wandbRunName }
  await uploadRunFile(opened, caller, runNames, { name: wandbFile, text: secret("wandb-content") })
  const [wandbFileId = ""] = await runFileIds(caller, runNames)

  const wandbCollection = name("wandb-artifact")
  const wandbContent = secret("artifact-content")
  const { id: wandbArtifactId } = await logArtifact(opened, caller, {
    entity,
    project,
    collection: wandbCollection,
    files: { [`${name("artifact-file")}.txt`]: wandbContent },
    input: {
      runName: wandbRunName,
      clientID: name("artifact-client"),
      metadata: JSON.stringify({ text: secret("metadata") }),
    },
  })
  const artifactQuery = "query($id: ID!) { artifact(id: $id) { artifactSequence { id } } }"
  const artifact = dataOf(await ask(caller, artifactQuery, { id: wandbArtifactId }), "artifact")
  const { artifactSequence } = artifact as { artifactSequence: { id: string } }
  const pendingNames = { entity, project, collection: name("wandb-pending") }
  const pending = await createArtifact(caller, pendingNames, md5("nothing", "hex"))
  const begun = await change(
    caller,
    "mutation($input: CreateArtifactManifestInput!) { createArtifactManifest(input: $input) { artifactManifest { id } } }",
    { input: { artifactID: pending.id, name: "wandb_manifest.json", digest: "" } },
  )
  const { artifactManifest } = dataOf(begun, "createArtifactManifest") as { artifactManifest: { id: string } }
  const wandbPortfolio = name("wandb-portfolio")
  const linked = await change(
    caller,
    "mutation($input: LinkArtifactInput) { linkArtifact(input: $input) { artifactMembership { artifactCollection { id } } } }",
    {
      input: {
        artifactID: wandbArtifactId,
        artifactPortfolioName: wandbPortfolio,
        entityName: entity,
        projectName: project,
      },
    },
  )
  const { artifactMembership } = dataOf(linked, "linkArtifact") as {
    artifactMembership: { artifactCollection: { id: string } }
  }

  const handles = {
    entity,
    project,
    projectId: project_id,
    internalProject: info[0]?.internal_project_id ?? "",
    username: entity,
    userId: me.id,
    apiKeyId: key.id,
    sessionId: session.id,
    invitationId: invitation.id,
    modelName,
    modelId: model.id,
    jobId: job.id,
    sourceJobId: sourceJob.id,
    checkpointId: checkpoints.data[0]?.id ?? "",
    artifact: `wandb-artifact:///${project_id}/${modelName}:step0`,
    uploadId: upload.id,
    responseId: response.id,
    rolloutId,
    rolloutGroup,
    objectId,
    objectDigest: object.digest,
    objectRef: `${weave}/object/${objectId}:${object.digest}`,
    alias,
    tag,
    opId: op.object_id,
    opDigest: op.digest,
    opRef: `${weave}/op/${op.object_id}:${op.digest}`,
    datasetId: dataset.object_id,
    datasetDigest: dataset.digest,
    datasetRef: ref(dataset),
    modelObjectId: modelObject.object_id,
    modelDigest: modelObject.digest,
    modelRef: ref(modelObject),
    scorerId: scorer.object_id,
    scorerDigest: scorer.digest,
    scorerRef: ref(scorer),
    evaluationId: evaluation.object_id,
    evaluationDigest: evaluation.digest,
    evaluationRef: ref(evaluation),
    specId,
    specDigest: spec.digest,
    specRef,
    tableDigest: table.digest,
    rowDigest,
    rowRef: `${weave}/table/${table.digest}/id/${rowDigest}`,
    fileDigest: file.digest,
    callId,
    traceId: trace,
    threadId,
    displayName,
    callRef: `${weave}/call/${callId}`,
    feedbackId: feedback.id,
    queueId: queue.id,
    ruleId: rule.id,
    queueName,
    itemId,
    costId: cost.ids[0]?.[0] ?? "",
    costModel,
    runId: evaluation_run_id,
    predictionId: prediction.prediction_id,
    scoreId: score.score_id,
    agentName,
    conversationId,
    agentTraceId: traceId(agentTrace),
    agentSpanId: spanId(agentTrace),
    linkId: link.entries[0]?.link_id ?? "",
    runtimeName,
    wandbRunName,
    wandbRunId,
    wandbFile,
    wandbFileId,
    wandbCollection,
    wandbArtifactId,
    wandbManifestId: artifactManifest.id,
    wandbSequenceId: artifactSequence.id,
    wandbPortfolio,
    wandbPortfolioId: artifactMembership.artifactCollection.id,
    wandbDigest: md5(wandbContent, "hex"),
    evaluateCallId: evaluation_run_id,
  }
  const empty = Object.entries(handles).filter(([, value]) => value === "")
  if (empty.length > 0) throw new Error(`the team has no ${empty.map(([handle]) => handle).join(", ")}`)
  return { caller, handles, secrets }
}

async function firstRow(
  caller: EvaluationCaller,
  project_id: string,
  { object_id, digest }: { object_id: string; digest: string },
): Promise<string> {
  const read = await caller.post("/obj/read", { project_id, object_id, digest })
  const table = /table\/([0-9A-Za-z_-]+)/.exec(read.text)?.[1] ?? ""
  const rows = await caller.post("/table/query", { project_id, digest: table })
  return (rows.body as { rows: { digest: string }[] }).rows[0]?.digest ?? ""
}

/** A form with a file of this content and other fields. */
export async function formOf({ file, ...fields }: Record<string, string>): Promise<{ type: string; payload: Buffer }> {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.set(field, value)
  form.set("file", new Blob([`${file}\n`]), "rows.jsonl")
  const request = new Request("http://x", { method: "POST", body: form })
  return { type: request.headers.get("content-type") ?? "", payload: Buffer.from(await request.arrayBuffer()) }
}

async function postForm(opened: EvaluationApp, { key }: EvaluationCaller, url: string, fields: Record<string, string>) {
  const { type, payload } = await formOf(fields)
  const headers = { authorization: `Bearer ${key}`, "content-type": type }
  const answer = await opened.app.server.inject({ method: "POST", url, headers, payload })
  return { status: answer.statusCode, text: answer.payload, body: answer.json<unknown>() }
}

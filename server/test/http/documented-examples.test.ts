/** Each example of `/openapi.json` is answered when it is sent with names and ids of existing things. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import { operations } from "../../src/http/openapi/reference/operations.ts"
import type { Route } from "../../src/http/route.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { evaluation, judge, publish, publishDataset, structuredModel } from "../support/judges.ts"
import { routeRequests } from "../support/isolation/route-requests.ts"
import { sendRequest } from "../support/isolation/send-request.ts"
import { fillTeam, type Handles } from "../support/isolation/team-world.ts"

let opened: EvaluationApp
let handles: Handles
let key: string
beforeAll(async () => {
  opened = await openEvaluationApp({}, new FakeEngine())
  const world = await fillTeam(opened, opened.acme)
  handles = world.handles
  key = world.caller.key
}, 300_000)
afterAll(() => opened.close())

const nameOf = ({ method, path }: Route) => `${method} ${path}`

/** Statuses of examples that fail here, because they need a service outside, a one-time secret or another state. */
const refused: Readonly<Record<string, number>> = {
  "POST /image/create": 404,
  "GET /files/download/:token": 404,
  "PUT /files/upload/:token": 404,
  "GET /files/direct/:token": 404,
  "PUT /artifactsV2/upload/:token": 404,
  "GET /artifactsV2/direct/:token": 404,
  "POST /v1/organization/invitations/accept": 401,
  "POST /v1/sign-up": 401,
  "POST /v1/session": 401,
  "POST /v1/session/token": 401,
  // The caller has a key, and no session to end.
  "DELETE /v1/session": 404,
  // No backup was made at that time.
  "DELETE /v1/organization/backups/:name": 404,
  // The fake engine does not have this call.
  "GET /v1/system-check": 503,
  // The job and the response have ended.
  "POST /v1/preview/training-jobs/:training_job_id/pause": 409,
  "POST /v1/preview/training-jobs/:training_job_id/resume": 409,
  "POST /v1/responses/:response_id/cancel": 400,
}

/**
 * Publishes things that the server can run: a judge, an action, an evaluation with the judge, a model made of a prompt.
 */
async function runnable(): Promise<Partial<Handles>> {
  const { projectId } = handles
  const scorerRef = await publish(opened.acme, projectId, "judge", judge("Is {output} good?"))
  const config = { action_type: "contains_words", target_words: ["hi"] }
  const name = "words"
  const objectRef = await publish(
    opened.acme,
    projectId,
    name,
    { name, config },
    { builtin_object_class: "ActionSpec" },
  )
  const dataset = await publishDataset(opened.acme, projectId, [{ question: "4+5=" }])
  const modelRef = await publish(
    opened.acme,
    projectId,
    "answerer",
    structuredModel({ messages_template: [{ role: "user", content: "{question}" }] }),
  )
  const evaluationRef = await publish(opened.acme, projectId, "judged", evaluation(dataset, [scorerRef]))
  return { scorerRef, objectRef, modelRef, evaluationRef }
}

/** Handles for the routes whose examples name other things than the rest. */
async function otherNames(): Promise<Readonly<Record<string, Partial<Handles>>>> {
  const own = await runnable()
  // Another user is removed, because the team with a user's name keeps that user.
  const guest = { username: opened.rival.entity }
  return {
    "POST /calls/score": own,
    "POST /actions/execute_batch": own,
    "POST /evaluations/evaluate_model": own,
    "POST /evaluations/rescore": own,
    "POST /v1/organization/teams/:team/members": guest,
    "POST /v1/organization/teams/:team/members/:username": guest,
    "DELETE /v1/organization/teams/:team/members/:username": guest,
    "PUT /v1/projects/:entity/:project/roles/:username": guest,
    "DELETE /v1/projects/:entity/:project/roles/:username": guest,
    "DELETE /v1/organization/users/:username": guest,
  }
}

/** Routes that delete come last, and inner things are deleted before the things that contain them. */
function inOrder(): Route[] {
  const deletes = (route: Route) =>
    Math.max(0, ["delete", "erase"].indexOf(routeRequests[nameOf(route)]?.kind ?? "read") + 1)
  return opened.app.routes.toSorted(
    (one, two) => deletes(one) - deletes(two) || (deletes(one) === 1 ? two.path.length - one.path.length : 0),
  )
}

test("every example is answered", { timeout: 300_000 }, async () => {
  const others = await otherNames()
  const failed: string[] = []
  for (const route of inOrder()) {
    const name = nameOf(route)
    const request = operations[name]?.example?.({ ...handles, ...others[name] }) ?? {}
    const caller = route.access === "admin" ? opened.admin.key : key
    const { status, text } = await sendRequest(opened, caller, route, request)
    if (status !== (refused[name] ?? 200)) failed.push(`${name}: ${status} ${text.slice(0, 300)}`)
  }
  expect(failed).toEqual([])
})

/** Rollouts: what the server has gathered under the ids that clients send with their calls, and what it earned. */
import { Readable } from "node:stream"
import { existingProject } from "../../access/project-access.ts"
import { HeddleError } from "../../errors.ts"
import { type Route, route } from "../../http/route.ts"
import { audited } from "../../storage/catalog/accounts/audit-logs.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { addReward, listRewards } from "../../storage/catalog/training/rollout-rewards.ts"
import { isStorable } from "../../storage/catalog/storable-text.ts"
import {
  deleteRollout,
  listRollouts,
  listTurns,
  type RolloutPlace,
  type RolloutRecord,
  sequenceOfTurn,
} from "../../storage/catalog/training/rollouts.ts"
import { usageOf } from "../../storage/team-usage.ts"
import { toPage } from "../../wire/training/page.ts"
import {
  deletedRollout,
  readRollout,
  reward as rewardSchema,
  rewardBody,
  rolloutPage,
  rolloutParams,
  rolloutQuery,
  rolloutsQuery,
  rolloutTrajectory,
  turnPage,
  turnsQuery,
} from "../../wire/training/rollout.ts"
import type { TrainingDependencies } from "../dependencies.ts"
import { noSuchRollout, rolloutOf, rolloutOrDeleted } from "./rollout-access.ts"
import { untrainable } from "./rollout-issues.ts"
import { trajectoryText } from "./trajectory-text.ts"
import { toWireReward, toWireRollout, toWireTurn } from "./wire-rollout.ts"

const of = "rollout path.rollout_id"
const ofOne = { dialect: "detail", tag: "Rollouts" } as const

export function rolloutRoutes({ database }: TrainingDependencies): Route[] {
  return [
    listRoute(database),
    route({
      ...ofOne,
      method: "GET",
      path: "/v1/rollouts/:rollout_id",
      access: { right: "read", of },
      summary: "Read a rollout with the rewards it was given",
      schemas: { params: rolloutParams, query: rolloutQuery },
      response: readRollout,
      refusals: ["404"],
      handle: async ({ params, query, principal }) => {
        const place = await rolloutOf(database, principal, params.rollout_id, query.project_id)
        const record = await recordOf(database, place)
        const rewards = (await listRewards(database, place.id)).map(toWireReward)
        return { ...toWireRollout(record, nameOf(place)), rewards }
      },
    }),
    route({
      ...ofOne,
      method: "GET",
      path: "/v1/rollouts/:rollout_id/turns",
      access: { right: "read", of },
      summary: "List the turns of a rollout in the order in which they were answered",
      schemas: { params: rolloutParams, query: turnsQuery },
      response: turnPage,
      refusals: ["404"],
      handle: async ({ params, query, principal }) => {
        const { id } = await rolloutOf(database, principal, params.rollout_id, query.project_id)
        const after = query.after === undefined ? null : await sequenceOfTurn(database, id, query.after)
        if (query.after !== undefined && after === null) throw noSuchTurn(query.after)
        const { turns, hasMore } = await listTurns(database, id, after, query.limit)
        const data = await Promise.all(turns.map((turn) => toWireTurn(turn, query.tokens)))
        return { ...toPage(data, query.limit), has_more: hasMore }
      },
    }),
    trajectoryRoute(database),
    rewardRoute(database),
    deleteRoute(database),
  ]
}

function listRoute(database: CatalogDatabase): Route {
  return route({
    ...ofOne,
    method: "GET",
    path: "/v1/rollouts",
    access: { right: "read", of: "project query.project_id" },
    summary: "List the rollouts of a project, the newest first",
    schemas: { query: rolloutsQuery },
    response: rolloutPage,
    handle: async ({ query, principal }) => {
      const project = await existingProject(database, principal, query.project_id)
      const filter = {
        groupId: query.group,
        modelId: query.model_id,
        step: query.step,
        isRewarded: query.rewarded,
        since: query.since === undefined ? undefined : new Date(query.since),
        until: query.until === undefined ? undefined : new Date(query.until),
      }
      let afterSequence: number | null = null
      if (query.after !== undefined) {
        const place = await rolloutOf(database, principal, query.after, query.project_id)
        afterSequence = (await recordOf(database, place)).sequence
      }
      const rows = await listRollouts(database, project.id, filter, {
        afterSequence,
        order: query.order,
        limit: query.limit + 1,
      })
      return toPage(
        rows.map((row) => toWireRollout(row, project.name)),
        query.limit,
      )
    },
  })
}

function trajectoryRoute(database: CatalogDatabase): Route {
  return route({
    ...ofOne,
    method: "GET",
    path: "/v1/rollouts/:rollout_id/trajectory",
    access: { right: "read", of },
    summary: "Read a rollout as a trajectory that a training job takes",
    schemas: { params: rolloutParams, query: rolloutQuery },
    response: rolloutTrajectory,
    refusals: ["404"],
    handle: async ({ params, query, principal, reply }) => {
      const place = await rolloutOf(database, principal, params.rollout_id, query.project_id)
      const record = await recordOf(database, place)
      const reason = record.reward === null ? `nobody has given it a reward yet; ${wayToReward}` : untrainable(record)
      if (reason !== null) {
        throw new HeddleError("conflict", `the rollout "${record.rolloutId}" is no trajectory to train on: ${reason}`)
      }
      const [newest] = (await listRewards(database, place.id)).slice(-1)
      const pieces = trajectoryText(database, record, newest?.reward ?? 0, newest?.metrics ?? {})
      reply.type("application/json; charset=utf-8").send(Readable.from(pieces, { objectMode: false }))
    },
  })
}

const wayToReward = "POST /v1/rollouts/{rollout_id}/reward gives one"

function rewardRoute(database: CatalogDatabase): Route {
  return route({
    ...ofOne,
    method: "POST",
    path: "/v1/rollouts/:rollout_id/reward",
    access: { right: "label", of },
    summary: "Say what a rollout earned; the newest reward counts, the earlier ones are kept",
    schemas: { params: rolloutParams, query: rolloutQuery, body: rewardBody },
    response: rewardSchema,
    refusals: ["404"],
    handle: async ({ params, query, body, principal }) => {
      const place = await rolloutOf(database, principal, params.rollout_id, query.project_id)
      requireStorable(body)
      const given = await addReward(database, place.id, {
        key: body.key ?? null,
        reward: body.reward,
        metrics: body.metrics ?? {},
        reason: body.reason ?? null,
        userId: principal.userId,
      })
      if (given === null) throw noSuchRollout(params.rollout_id)
      return toWireReward(given)
    },
  })
}

function requireStorable({
  key,
  reason,
  metrics,
}: {
  key?: unknown
  reason?: unknown
  metrics?: object | null | undefined
}): void {
  const texts = { key, reason, metrics: Object.keys(metrics ?? {}).join() }
  for (const [field, text] of Object.entries(texts)) {
    if (typeof text !== "string" || isStorable(text)) continue
    throw new HeddleError("bad_request", `${field} has a character U+0000 or half of one; send it without`)
  }
}

function deleteRoute(database: CatalogDatabase): Route {
  return route({
    ...ofOne,
    method: "DELETE",
    path: "/v1/rollouts/:rollout_id",
    access: { right: "write", of },
    summary: "Delete a rollout with its turns and rewards",
    schemas: { params: rolloutParams, query: rolloutQuery },
    response: deletedRollout,
    refusals: ["404"],
    // Clients send a DELETE again when its answer was lost, so the second says what the first said.
    handle: async ({ params, query, principal }) => {
      const place = await rolloutOrDeleted(database, principal, params.rollout_id, query.project_id)
      const turns = place.deletedTurns ?? (await removed(place))
      return { id: place.rolloutId, object: "rollout.deleted", deleted: true, turns }

      async function removed(one: RolloutPlace): Promise<number> {
        const { turns: count, bytes } = await audited(database, principal, async (transaction, record) => {
          const deleted = await deleteRollout(transaction, one)
          const { entity: team, project, rolloutId } = one
          const details = { project, turns: deleted.turns }
          if (deleted.isNew) await record({ type: "rollout.deleted", team, resourceId: rolloutId, details })
          return deleted
        })
        usageOf(database)?.ofProject(one.projectId, -bytes)
        return count
      }
    },
  })
}

/** @throws {HeddleError} `not_found` when it was deleted meanwhile. */
async function recordOf(database: CatalogDatabase, { id, projectId, rolloutId }: RolloutPlace): Promise<RolloutRecord> {
  const [record] = await listRollouts(database, projectId, { id }, { afterSequence: null, order: "asc", limit: 1 })
  if (record === undefined) throw noSuchRollout(rolloutId)
  return record
}

function nameOf({ entity, project }: RolloutPlace): string {
  return `${entity}/${project}`
}

function noSuchTurn(id: string): HeddleError {
  return new HeddleError("not_found", `after: "${id}" is no turn of this rollout`, { param: "after" })
}

/** `GET /v1/models` and `/v1/models/{id}`: inference-api 8. */
import type { FastifyRequest } from "fastify"
import { teamIds } from "../access/can.ts"
import { z } from "zod"
import type { Gateway } from "../gateway/gateway.ts"
import type { ModelDirectory } from "../gateway/model-directory.ts"
import { artifactName } from "../gateway/model-name.ts"
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { type Route, route } from "../http/route.ts"
import { type ModelCard, modelCard, modelList } from "../wire/inference/models.ts"
import { projectHeader } from "./completion-request.ts"
import type { InferenceDependencies } from "./dependencies.ts"

const prefix = "/v1/models/"

export function modelRoutes({ gateway }: InferenceDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/models",
      access: { right: "read", of: "teams" },
      dialect: "openai",
      summary: "List base models and trained models",
      tag: "Chat",
      schemas: {},
      response: modelList,
      handle: async ({ principal }) => {
        const data = await cards(gateway.directory, teamIds(principal))
        return {
          object: "list",
          data,
          first_id: data[0]?.id ?? null,
          last_id: data.at(-1)?.id ?? null,
          has_more: false,
        }
      },
    }),
    route({
      method: "GET",
      // Clients send the slashes of an id raw or as %2F; the id is cut out of the raw path and decoded once.
      path: `${prefix}*`,
      access: { right: "read", of: "model path.*" },
      dialect: "openai",
      summary: "Read one model; any step of a trained model is one",
      tag: "Chat",
      schemas: { params: z.object({ "*": z.string() }) },
      response: modelCard,
      handle: ({ principal, request }) => readCard(gateway, principal, request),
    }),
  ]
}

function modelIdOf(url: string): string {
  const path = url.split("?", 1)[0] ?? ""
  const raw = path.slice(prefix.length).replace(/\/$/, "")
  try {
    return decodeURIComponent(raw)
  } catch {
    throw new HeddleError("bad_request", `the model id "${raw}" is not valid percent-encoding`)
  }
}

async function cards(directory: ModelDirectory, entityIds: string[]): Promise<ModelCard[]> {
  const [bases, trained] = await Promise.all([directory.bases(entityIds), directory.trainedModels(entityIds)])
  return [
    ...bases.map((base) => baseCard(base.name)),
    ...trained.map(({ entity, project, name, baseModel, createdAt }) =>
      trainedCard(artifactName(entity, project, name), entity, baseModel, createdAt),
    ),
  ]
}

/** Resolves as chat would, then describes: what chat answers to is what is listed. */
async function readCard(gateway: Gateway, principal: Principal, request: FastifyRequest): Promise<ModelCard> {
  const id = modelIdOf(request.url)
  const served = await gateway.resolve(principal, id, projectHeader(request))
  if (served.trained === null) return { ...baseCard(served.base.name), id }
  return trainedCard(id, served.trained.entity, served.base.name, served.trained.createdAt)
}

function baseCard(name: string): ModelCard {
  return toCard({ id: name, created: 0, owned_by: "system", root: name, parent: null })
}

function trainedCard(id: string, entity: string, base: string, createdAt: Date): ModelCard {
  const created = Math.floor(createdAt.getTime() / 1000)
  return toCard({ id, created, owned_by: entity, root: base, parent: base })
}

function toCard(fields: Pick<ModelCard, "id" | "created" | "owned_by" | "root" | "parent">): ModelCard {
  const created_at = new Date(fields.created * 1000).toISOString()
  return { object: "model", ...fields, type: "model", display_name: fields.id, created_at, lifecycle: "active" }
}

/** Models that can be asked in a project: its own with their steps, base models, and those of other services. */
import type { checkpointPage } from "@heddle/server/wire/training/checkpoint.ts"
import type { ListedModel } from "@heddle/server/wire/training/model.ts"
import { useQueries } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { useObjectVersions } from "../objects/object-versions.ts"
import { jsonQuery } from "../queries.ts"
import { type OfProject, useBaseModels, useModels } from "../training/training.ts"

export interface ChatModel {
  /** As a chat names it. */
  name: string
  note: string
}

const mostModels = 50
const mostSteps = 30

export interface ChatModels {
  /** Without the single steps; undefined while they are read. */
  models: ChatModel[] | undefined
  /** Of the project, the newest first. */
  trained: ListedModel[]
  base: string[]
  error: ApiError | null
  refetch: () => void
}

export function useChatModels({ entity, project }: OfProject): ChatModels {
  const own = useModels({ entity, project, limit: mostModels })
  const base = useBaseModels()
  const outside = useObjectVersions({
    project_id: `${entity}/${project}`,
    filter: { base_object_classes: ["ProviderModel"], latest_only: true },
  })
  const error = own.error ?? base.error
  const refetch = () => void Promise.all([own.refetch(), base.refetch()])
  // Other services are not waited for when they cannot be read.
  if (own.data === undefined || base.data === undefined || outside.isPending) {
    return { models: undefined, trained: [], base: [], error, refetch }
  }
  const trained = own.data.data
  const models: ChatModel[] = [
    ...trained.map(({ name, latest_step: step }) => ({
      name: `${name}@latest`,
      note: step === null ? "no step left" : `newest, step ${step}`,
    })),
    ...base.data.map((name) => ({ name, note: "base model" })),
    ...(outside.data ?? []).flatMap(({ object_id: id, val }) => {
      const { name } = JSON.parse(val) as { name?: unknown }
      if (typeof name !== "string") return []
      const provider = id.slice(0, -name.replaceAll(/[^\w-]/g, "_").length - 1)
      return [{ name: `custom::${provider}::${name}`, note: "another service" }]
    }),
  ]
  return { models, trained, base: base.data, error, refetch }
}

/** The newest kept steps of these models. */
export function useChatSteps(trained: readonly { id: string; name: string }[]): ChatModel[] {
  const found = useQueries({
    queries: trained.map(({ id }) =>
      jsonQuery<z.output<typeof checkpointPage>>("GET", `/v1/preview/models/${encodeURIComponent(id)}/checkpoints`, {
        order: "desc",
        limit: mostSteps,
      }),
    ),
  })
  return trained.flatMap(({ name }, index) =>
    (found[index]?.data?.data ?? []).map(({ step }) => ({
      name: `${name}@${step}`,
      note: step === 0 ? "before training" : `step ${step}`,
    })),
  )
}

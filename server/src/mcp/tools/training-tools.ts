/** Models and training jobs, and asking what was trained. */
import { z } from "zod"
import type { chatCompletion } from "../../wire/inference/chat.ts"
import { jobStatus, type ListedJob } from "../../wire/training/job.ts"
import type { ListedModel, Model } from "../../wire/training/model.ts"
import type { modelMetricsAnswer } from "../../wire/training/model-metrics.ts"
import type { trainingDryRun } from "../../wire/training/train-from.ts"
import { pathPart } from "../api.ts"
import { shorten } from "../shorten.ts"
import { projectField, shortenedNote, type Tool, tool, ToolError } from "../tool.ts"
import { mostCharacters } from "./finding-tools.ts"
import { trainFromBodyOf, trainFromInput } from "./training-sources.ts"

const ofTeams = { right: "read", of: "teams" } as const
const jobPath = "/v1/preview/training-jobs"
const needsTrain = "Needs a key of the scope train or all."

const jobSummary = z.looseObject({
  job_id: z.string(),
  model_id: z.string(),
  status: jobStatus,
  kind: z.string(),
})

export const trainingTools: readonly Tool[] = [
  tool({
    name: "list_models",
    title: "List models",
    description: "Models that can be trained and asked, the newest first, and base models to begin from.",
    access: ofTeams,
    input: z.strictObject({
      project: projectField.optional(),
      after: z.string().optional().describe("next_after of the page before."),
      limit: z.int().min(1).max(100).default(20),
    }),
    output: z.object({
      models: z.array(z.looseObject({ model_id: z.string(), chat_name: z.string() })),
      base_models: z.array(z.string()),
      next_after: z.string().nullable(),
    }),
    run: async ({ project, after, limit }, api) => {
      const query = { ...namesOf(project), after, limit }
      const page = await api.json<Page<ListedModel>>({ method: "GET", path: "/v1/preview/models", query })
      return {
        models: page.data.map(({ id, entity, project: of, ...model }) => ({
          model_id: id,
          project: `${entity}/${of}`,
          chat_name: chatNameOf({ entity, project: of, name: model.name }),
          ...model,
        })),
        base_models: await api.json<string[]>({ method: "GET", path: "/v1/preview/base-models" }),
        next_after: page.has_more ? page.last_id : null,
      }
    },
  }),
  tool({
    name: "list_jobs",
    title: "List training jobs",
    description: "Training jobs, the newest first. job_status has the curves of one.",
    access: ofTeams,
    input: z.strictObject({
      project: projectField.optional(),
      model_id: z.string().optional(),
      status: z.array(jobStatus).max(5).optional(),
      after: z.string().optional().describe("next_after of the page before."),
      limit: z.int().min(1).max(50).default(20),
    }),
    output: z.object({ jobs: z.array(jobSummary), next_after: z.string().nullable() }),
    run: async ({ project, model_id, status, after, limit }, api) => {
      const query = { ...namesOf(project), model_id, status, after, limit }
      const page = await api.json<Page<ListedJob>>({ method: "GET", path: jobPath, query })
      return { jobs: page.data.map(showJob), next_after: page.has_more ? page.last_id : null }
    },
  }),
  tool({
    name: "job_status",
    title: "How a training job fares",
    description:
      "A job's state, gradient steps, error and output step, with the newest value and the curve of each metric of its model. " +
      "Jobs run for seconds to hours: ask again after some time.",
    access: { right: "read", of: "training job body.params.arguments.job_id" },
    input: z.strictObject({
      job_id: z.string().min(1),
      points: z.int().min(1).max(50).default(10).describe("Most points of a curve."),
    }),
    output: z.object({
      job: jobSummary,
      metrics: z.array(z.looseObject({ metric: z.string() })),
      note: shortenedNote,
    }),
    run: async ({ job_id, points }, api) => {
      const path = `${jobPath}/${pathPart("job_id", job_id)}`
      const job = await api.json<ListedJob>({ method: "GET", path })
      const { data } = await api.json<z.output<typeof modelMetricsAnswer>>({
        method: "GET",
        path: "/v1/preview/model-metrics",
        query: { model_id: job.model_id, points },
      })
      const curves = (data[0]?.curves ?? []).map(({ metric, step, last }) => ({
        metric,
        latest: last.at(-1),
        step,
        last,
      }))
      const shortened = shorten(curves, Math.floor(mostCharacters * 0.7))
      const isList = Array.isArray(shortened.value)
      return {
        job: showJob(job),
        metrics: isList ? (shortened.value as unknown[]).filter((one) => typeof one === "object") : [],
        note: shortened.isShortened ? "Not all metrics are shown; ask for fewer points." : null,
      }
    },
  }),
  tool({
    name: "dry_run_training",
    title: "What a job would be trained on",
    description:
      "Says what start_training would train on, with the same arguments, and stores nothing: rows, groups, pairs, tokens, estimated time, " +
      "some rows to look at, and what is left out with the reason. Always do this first, and look at the reasons.",
    access: { right: "read", of: "project body.params.arguments.source.project" },
    input: trainFromInput,
    output: z.looseObject({ kind: z.string(), rows: z.int(), note: shortenedNote }),
    run: async (input, api) => {
      const body = trainFromBodyOf(input)
      const answer = await api.json<z.output<typeof trainingDryRun>>({
        method: "POST",
        path: `${jobPath}/from-source/dry-run`,
        body,
      })
      const { kind, rows, ...rest } = answer
      const shortened = shorten(rest, mostCharacters)
      const note = shortened.isShortened ? "Examples are shortened; get_call reads a call in full." : null
      return { kind, rows, ...(shortened.value as object), note }
    },
  }),
  tool({
    name: "create_model",
    title: "Make a model to train",
    description: `Makes a trainable model on a base model; its checkpoint 0 is the base. ${needsTrain}`,
    access: { right: "write", of: "project body.params.arguments.project", train: true },
    input: z.strictObject({
      project: projectField,
      name: z.string().min(1).max(128).describe("Characters out of A-Z a-z 0-9 _ . -"),
      base_model: z.string().min(1).max(1024).default("heddle/tiny").describe("One of base_models of list_models."),
    }),
    output: z.looseObject({ model_id: z.string(), chat_name: z.string() }),
    run: async ({ project, name, base_model }, api) => {
      const body = { ...namesOf(project), name, base_model }
      const made = await api.json<Model>({ method: "POST", path: "/v1/preview/models", body })
      return { model_id: made.id, project, name: made.name, base_model: made.base_model, chat_name: chatNameOf(made) }
    },
  }),
  tool({
    name: "start_training",
    title: "Start a training job",
    description:
      "Trains a model on calls, labels, evaluations, a dataset or rollouts. Do dry_run_training with the same arguments first. The " +
      `answer has the job; job_status says how it fares, and once it has succeeded the model answers chats at its new step. ${needsTrain}`,
    access: { right: "write", of: "model body.params.arguments.model_id", train: true },
    input: trainFromInput,
    output: z.looseObject({ job_id: z.string(), status: z.string() }),
    run: async (input, api) => {
      const body = trainFromBodyOf(input)
      const { id, ...job } = await api.json<{ id: string }>({
        method: "POST",
        path: `${jobPath}/from-source`,
        body,
      })
      return { job_id: id, ...(shorten(job, mostCharacters).value as object) }
    },
  }),
  tool({
    name: "cancel_job",
    title: "Cancel a training job",
    description: `Ends a job that waits or runs; its model stays at the newest step it has. ${needsTrain}`,
    access: { right: "write", of: "training job body.params.arguments.job_id", train: true },
    isDestructive: true,
    isRepeatable: true,
    input: z.strictObject({ job_id: z.string().min(1) }),
    output: z.object({ job: jobSummary }),
    run: async ({ job_id }, api) => {
      const path = `${jobPath}/${pathPart("job_id", job_id)}/cancel`
      return { job: showJob(await api.json<ListedJob>({ method: "POST", path })) }
    },
  }),
  tool({
    name: "chat",
    title: "Ask a model",
    description:
      "One answer of a base model or of a trained model at any step, to try it out or to compare two of them. It is counted as " +
      `usage of the team. ${needsTrain}`,
    access: { right: "write", of: "model body.params.arguments.model", train: true },
    input: z.strictObject({
      model: z
        .string()
        .min(1)
        .max(1024)
        .describe("A base model, or chat_name of list_models; with :step3 at its end that step."),
      prompt: z.string().min(1).max(100_000).optional().describe("One question; or give `messages`."),
      messages: z
        .array(z.strictObject({ role: z.enum(["system", "user", "assistant"]), content: z.string().max(100_000) }))
        .min(1)
        .max(100)
        .optional(),
      max_tokens: z.int().min(1).max(4096).default(512),
      temperature: z.number().min(0).max(2).optional(),
    }),
    output: z.object({
      text: z.string().nullable(),
      finish_reason: z.string(),
      model: z.string(),
      usage: z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int() }),
      note: shortenedNote,
    }),
    run: async ({ model, prompt, messages, max_tokens, temperature }, api) => {
      if ((prompt === undefined) === (messages === undefined)) throw new ToolError("give either prompt or messages")
      const conversation = messages ?? [{ role: "user", content: prompt }]
      const answer = await api.json<z.output<typeof chatCompletion>>({
        method: "POST",
        path: "/v1/chat/completions",
        body: { model, messages: conversation, max_tokens, temperature, logprobs: false, return_token_ids: false },
      })
      const [choice] = answer.choices
      const text = shorten(choice?.message.content ?? null, mostCharacters)
      return {
        text: text.value,
        finish_reason: choice?.finish_reason ?? "stop",
        model: answer.model,
        usage: answer.usage,
        note: text.isShortened ? "The answer is shortened." : null,
      }
    },
  }),
]

interface Page<T> {
  data: T[]
  has_more: boolean
  last_id: string
}

function namesOf(project: string | undefined): { entity?: string; project?: string } {
  if (project === undefined) return {}
  const [entity, name, ...rest] = project.split("/")
  if (entity && name && rest.length === 0) return { entity, project: name }
  throw new ToolError(`project: "${project}" is not of the form entity/project`)
}

function showJob({ id, entity, project, ...job }: ListedJob) {
  return { job_id: id, project: `${entity}/${project}`, ...job }
}

function chatNameOf({ entity, project, name }: { entity: string; project: string; name: string }): string {
  return `wandb-artifact:///${entity}/${project}/${name}`
}

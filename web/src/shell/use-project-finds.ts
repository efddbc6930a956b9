/**
 * What of a project the palette finds by a word: its models, runs, artifacts, objects and queues by their names, a run by its id
 * too, a call or a trace by its id.
 */
import { useNavigate, useRouter } from "@tanstack/react-router"
import {
  ChartLine,
  Database,
  FlaskConical,
  Highlighter,
  ListTree,
  type LucideIcon,
  Package,
  Spline,
} from "lucide-react"
import { useQueues } from "../api/labelling/annotation-queues.ts"
import { findTraceOf } from "../api/calls/find-call.ts"
import { useObjectVersions } from "../api/objects/object-versions.ts"
import { useArtifactNames } from "../api/runs/artifact-names.ts"
import { useRunPages } from "../api/runs/run-list.ts"
import { useModels } from "../api/training/training.ts"
import { shortId } from "../format/ids.ts"
import { kindOfObject } from "../objects/object-kinds.ts"
import type { CurrentProject } from "./current-project.ts"

interface Find {
  id: string
  label: string
  note: string
  icon: LucideIcon
  /** By which it is found besides its label. */
  word?: string
  run: () => void
}

/** So many of a project are listed. */
export const mostFound = 20
const mostRead = 1000
/** Fewer letters are in too many names. */
const leastLetters = 2
/** Ids of calls and traces: those of Weave, and those of OpenTelemetry. */
const anyId = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{16})$/i

export function useProjectFinds(project: CurrentProject | null, typed: string): Find[] {
  const navigate = useNavigate()
  const router = useRouter()
  const word = typed.trim().toLowerCase()
  const enabled = project !== null && word.length >= leastLetters
  const { id: project_id, entity, project: name } = project ?? { id: "", entity: "", project: "" }
  const filter = { latest_only: true }
  const objects = useObjectVersions({ project_id, filter, metadata_only: true, limit: mostRead }, enabled)
  // There may be more of these than one page has: the server looks for the word.
  const models = useModels({ entity, project: name, query: word, limit: mostFound }, { enabled })
  const queues = useQueues({ project_id, name: word, limit: mostFound }, { enabled })
  const hasWord = { $regex: `(?i)${escaped(word)}` }
  const runs = useRunPages(
    { entity, project: name },
    { filters: { $or: [{ display_name: hasWord }, { name: hasWord }] } },
    { enabled },
  )
  const artifacts = useArtifactNames({ entity, project: name }, { name: hasWord }, enabled)
  if (!enabled) return []
  const params = { entity, project: name }
  const all: Find[] = [
    ...(models.data?.data ?? []).map((model) => ({
      id: `model ${model.id}`,
      label: model.name,
      note: "trained model",
      icon: Spline,
      run: () => void navigate({ to: "/$entity/$project/models/$name", params: { ...params, name: model.name } }),
    })),
    {
      id: "runs",
      label: "Runs",
      note: "page",
      icon: ChartLine,
      run: () => void navigate({ to: "/$entity/$project/runs", params }),
    },
    ...(runs.data ?? []).map((run) => ({
      id: `run ${run.name}`,
      label: run.displayName || run.name,
      note: "run",
      word: run.name,
      icon: ChartLine,
      run: () => void navigate({ to: "/$entity/$project/runs/$name", params: { ...params, name: run.name } }),
    })),
    ...(objects.data ?? []).map((object) => {
      const { noun } = kindOfObject(object)
      const isEvaluation = object.base_object_class === "Evaluation"
      return {
        id: `object ${object.kind} ${object.object_id}`,
        label: object.object_id,
        note: noun,
        icon: isEvaluation ? FlaskConical : Database,
        run: () =>
          void (isEvaluation
            ? navigate({ to: "/$entity/$project/evaluations/$name", params: { ...params, name: object.object_id } })
            : navigate({
                to: "/$entity/$project/objects/$name/versions/$version",
                params: { ...params, name: object.object_id, version: object.digest },
              })),
      }
    }),
    ...(queues.data ?? []).map((queue) => ({
      id: `queue ${queue.id}`,
      label: queue.name,
      note: "labelling queue",
      icon: Highlighter,
      run: () => void navigate({ to: "/$entity/$project/queues/$id", params: { ...params, id: queue.id } }),
    })),
    ...(artifacts.data ?? []).map((artifact) => ({
      id: `artifact ${artifact.name}`,
      label: artifact.name,
      note: `artifact, ${artifact.type}`,
      icon: Package,
      run: () => void navigate({ to: "/$entity/$project/artifacts/$name", params: { ...params, name: artifact.name } }),
    })),
  ]
  const found = all.filter(({ label, word: other = "" }) => `${label} ${other}`.toLowerCase().includes(word))
  // A ref and an address end with the id, whose letters may be large.
  const last = typed.trim().split("/").at(-1) ?? ""
  if (!anyId.test(last)) return found
  const open = async () => {
    const from = router.latestLocation.pathname
    const trace = await findTraceOf(project_id, last).catch(() => null)
    // Whoever has gone on to another page meanwhile stays there.
    if (router.latestLocation.pathname !== from) return
    await navigate({
      to: "/$entity/$project/traces/$trace",
      params: { ...params, trace: trace ?? last },
      search: trace === null ? {} : { span: last },
    })
  }
  const call = {
    id: "call",
    label: shortId(last),
    note: "call or trace with this id",
    icon: ListTree,
    run: () => void open(),
  }
  return [call, ...found]
}

const escaped = (text: string) => text.replaceAll(/[\\^$.|?*+()[\]{}]/g, "\\$&")

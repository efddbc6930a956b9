/** Artifacts that a run made and used, as fields of the run. */
import { artifactsOfRun, countArtifactsOfRun } from "../../storage/catalog/artifacts/artifact-lineage.ts"
import { artifactsOf } from "../../storage/catalog/artifacts/artifacts.ts"
import type { RunContext } from "../runs/run-context.ts"
import { globalId } from "../runs/run-ids.ts"
import { describeArtifacts, ownEntities } from "./artifact-node.ts"
import { type PageArguments, pageOf } from "./artifact-pages.ts"

export type { PageArguments } from "./artifact-pages.ts"

export async function runArtifacts(context: RunContext, runId: string, kind: "output" | "input", given: PageArguments) {
  const { database } = context
  const own = ownEntities(context)
  const { items, cursors, pageInfo } = await pageOf(given, (page) =>
    artifactsOfRun(database, own, { runId, kind }, page),
  )
  const ids = items.map(({ id }) => id)
  const artifacts = await context.reads.load(() => artifactsOf(database, ids))
  const described = new Map(describeArtifacts(context, artifacts).map((one) => [one.id, one]))
  return {
    totalCount: () => countArtifactsOfRun(database, own, { runId, kind }),
    edges: ids.flatMap((id, index) => {
      const node = described.get(globalId("Artifact", id))
      return node === undefined ? [] : [{ node, cursor: cursors[index] }]
    }),
    pageInfo,
  }
}

/** No item for the annotator now: why, and what they can do meanwhile. */
import { Zap } from "lucide-react"
import { LinkButton } from "../../../../components/controls/button.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { counted } from "../../../../format/counted.ts"
import { formatCount } from "../../../../format/numbers.ts"
import { firstChoice } from "../../train/label-choices.ts"
import type { Work } from "./labelling.tsx"

export function NothingLeft({ project, queue, counts, state, fields }: Work) {
  const params = { ...project.params, id: queue.id }
  const isEmpty = counts !== null && counts.total_items === 0
  const isLabelled = (counts?.items.finished ?? 0) > 0
  return (
    <Empty
      title={isEmpty ? "The queue has no items yet" : "Nothing to label for you now"}
      {...(isEmpty || state.othersHold > 0 || (counts?.items.open ?? 0) > 0
        ? { waitingFor: "an item that is free" }
        : {})}
      actions={
        <>
          <LinkButton kind={isLabelled ? "default" : "primary"} to="/$entity/$project/queues/$id" params={params}>
            See how far it is
          </LinkButton>
          {isEmpty && (
            <LinkButton to="/$entity/$project/traces" params={params}>
              Choose calls in Traces
            </LinkButton>
          )}
          <LinkButton to="/$entity/$project/queues" params={params}>
            Other queues
          </LinkButton>
          {/* The last one: it appears once the server has counted the labels, and must not move what is about to be clicked. */}
          {isLabelled && (
            <LinkButton
              kind="primary"
              icon={Zap}
              to="/$entity/$project/train"
              params={params}
              search={{ from: "queue", queue: queue.id, ...firstChoice(fields) }}
            >
              Train on these labels
            </LinkButton>
          )}
        </>
      }
    >
      {isEmpty
        ? "Select calls in Traces, or filter them, and press Add to queue."
        : counts === null
          ? "Counting the items…"
          : words(counts, state.othersHold)}
    </Empty>
  )
}

function words({ total_items, items, own }: NonNullable<Work["counts"]>, othersHold: number): string {
  const yours = own.completed + own.skipped
  const parts = [
    `${formatCount(items.finished)} finished`,
    ...(yours > 0 ? [`${formatCount(yours)} labelled or skipped by you`] : []),
    ...(items.part > 0 ? [`${counted(items.part, "waits", "wait")} for another person`] : []),
    ...(othersHold > 0 ? [`${formatCount(othersHold)} in other hands, which may come back`] : []),
  ]
  return `${counted(total_items, "item")}: ${parts.join(", ")}.`
}

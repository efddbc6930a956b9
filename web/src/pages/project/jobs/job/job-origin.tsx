/** Sources of a job made from calls, labels or scores: each row with its call and what people said of it. */
import type { ListedJob } from "@heddle/server/wire/training/job.ts"
import type { TrainingRow } from "@heddle/server/wire/training/train-from.ts"
import { useJobRowPages } from "../../../../api/training/training-pages.ts"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { counted } from "../../../../format/counted.ts"
import { MoreRows } from "../../training/more-rows.tsx"
import styles from "./job-origin.module.css"

const heads = [
  { name: "Row", className: styles.row },
  { name: "Made of", className: styles.made },
  { name: "Labels and feedback" },
  { name: "Score", className: styles.score },
]

export function JobOrigin({ job }: { job: ListedJob }) {
  const rows = useJobRowPages(job.id)
  const [first] = rows.data ?? []
  // Most jobs are sent by clients: there is no origin to show.
  if (first?.summary === null) return null
  return (
    <section aria-label="Origin">
      <PaneHead
        title="Origin"
        note={
          first === undefined
            ? undefined
            : `${counted(first.summary.rows, "row")} of ${counted(first.summary.read, "that was", "that were")} read`
        }
      />
      <Loaded query={rows} what="rows">
        {(pages) => (
          <PlainTable label="What each row was made of" heads={heads}>
            {pages
              .flatMap(({ data }) => data)
              .map((row) => (
                <tr key={row.id}>
                  <td className={styles.row}>{row.group === null ? row.row : `${row.group} / ${row.index}`}</td>
                  <td className={styles.made}>
                    <MadeOf row={row} project={pages[0]?.project_id ?? ""} />
                  </td>
                  <td className={styles.labels}>{row.feedback_ids.map((id) => id.slice(-12)).join(" ")}</td>
                  <td className={styles.score}>{row.is_corrected ? "corrected" : (row.score ?? "")}</td>
                </tr>
              ))}
          </PlainTable>
        )}
      </Loaded>
      <MoreRows what="rows" query={rows} />
    </section>
  )
}

function MadeOf({ row, project: id }: { row: TrainingRow; project: string }) {
  const [entity = "", project = ""] = id.split("/")
  const { call_id: call, rollout_id: rollout, row_digest: digest } = row
  if (call !== null) {
    return (
      <TextLink isQuiet to="/$entity/$project/r/call/$call" params={{ entity, project, call }}>
        call {call.slice(-12)}
      </TextLink>
    )
  }
  return rollout === null ? `row ${digest?.slice(0, 12) ?? ""}` : `rollout ${rollout}`
}

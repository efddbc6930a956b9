/** Events of a job, the newest first. */
import type { Event } from "@heddle/server/wire/training/job.ts"
import { LiveDot } from "../../../../components/signs/live-dot.tsx"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { DataTable } from "../../../../components/data-table/data-table.tsx"
import type { Column } from "../../../../components/data-table/columns.ts"
import { Time } from "../../../../components/signs/time.tsx"
import { counted } from "../../../../format/counted.ts"
import { formatCount } from "../../../../format/numbers.ts"
import { formatMetric } from "../../training/metric-words.ts"
import styles from "./job-events.module.css"

interface Numbered {
  event: Event
  /** Number of the gradient step, from 1. */
  number: number | null
}

const columns: Column<Numbered>[] = [
  { id: "time", title: "Time", width: 112, cell: ({ event }) => <Time at={event.created_at} show="clock" /> },
  { id: "event", title: "Event", width: 140, cell: (row) => <span title={detailOf(row.event)}>{wordsOf(row)}</span> },
  {
    id: "loss",
    title: "Loss",
    width: 76,
    isNumber: true,
    cell: (row) => valueOf(row, "policy_loss") || valueOf(row, "loss"),
  },
  { id: "norm", title: "Norm", width: 68, isNumber: true, cell: (row) => valueOf(row, "grad_norm") },
  { id: "speed", title: "Tokens/s", width: 80, isNumber: true, cell: (row) => valueOf(row, "tokens_per_second") },
]

export function JobEvents({ events, isLive }: { events: readonly Event[]; isLive: boolean }) {
  const rows: Numbered[] = []
  let number = 0
  for (const event of events) rows.push({ event, number: event.type === "gradient_step" ? ++number : null })
  const at = (index: number) => rows[rows.length - 1 - index]
  return (
    <section className={styles.pane} aria-label="Events">
      <PaneHead
        title="Events"
        note={formatCount(events.length)}
        tools={
          isLive && (
            <span className={styles.live}>
              <LiveDot kind="accent" /> live
            </span>
          )
        }
      />
      {events.length === 0 ? (
        <p className={styles.none}>None yet: the job waits for its turn, or reads its data.</p>
      ) : (
        <DataTable
          label="Events of the job"
          name="job-events"
          columns={columns}
          count={rows.length}
          rowAt={at}
          idOf={({ event }) => event.id}
          rowState={({ event }) => (event.type === "training_failed" ? "failed" : undefined)}
        />
      )}
    </section>
  )
}

function wordsOf({ event, number }: Numbered): string {
  switch (event.type) {
    case "training_started": {
      return `starts, ${counted(Number(event.data["num_sequences"]), "step")}`
    }
    case "gradient_step":
      return `gradient step ${number}`
    case "training_ended":
      return "ended, step made"
    case "training_failed":
      return "failed"
  }
}

/** All that the event holds: for whoever points at it. */
function detailOf({ data }: Event): string {
  return Object.entries(data)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join("\n")
}

function valueOf({ event }: Numbered, metric: string): string {
  const value = event.data[metric]
  return typeof value === "number" ? formatMetric(metric, value) : ""
}

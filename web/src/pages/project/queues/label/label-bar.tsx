/** The head of an annotator's page: how far the queue is, whose the item is and for how long, who else is here. */
import { BookOpen, Eye, EyeOff, LayoutGrid, RectangleVertical, Route, X } from "lucide-react"
import { useState } from "react"
import { Button, LinkButton } from "../../../../components/controls/button.tsx"
import { Dialog } from "../../../../components/layers/dialog.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { Avatar } from "../../../../components/signs/avatar.tsx"
import { Markdown } from "../../../../components/text/markdown.tsx"
import { formatCount } from "../../../../format/numbers.ts"
import { useKeys } from "../../../../keys/use-keys.ts"
import { useMedia } from "../../../../shell/use-media.ts"
import styles from "./label-bar.module.css"
import type { Work } from "./labelling.tsx"
import { LeaseRing } from "./lease-ring.tsx"

interface LabelBarProps extends Work {
  isBulk: boolean
  onView: (view: "bulk" | undefined) => void
  onBlind: (blind: "on" | "off") => void
}

const group = "Labelling"
const mostPeople = 4

export function LabelBar(props: LabelBarProps) {
  const { project, queue, state, counts, uncounted, userId, isBlind, isBulk, onView, onBlind, fields } = props
  const [isReading, setReading] = useState(false)
  const isNarrow = useMedia("(max-width: 699px)")
  const params = { ...project.params, id: queue.id }
  const [item] = state.held
  const others = (counts?.annotators ?? []).filter((one) => one.annotator_user_id !== userId && one.holding > 0)
  const total = counts?.total_items ?? 0
  const own = (counts?.own.completed ?? 0) + (counts?.own.skipped ?? 0) + uncounted
  const openTrace = () => document.querySelector<HTMLAnchorElement>("#label-trace")?.click()
  useKeys([
    { keys: "i", label: "instructions", group, run: () => setReading(true) },
    { keys: "o", label: "full trace, in a tab of its own", group, run: openTrace },
    { keys: "b", label: "blind or not", group, run: () => onBlind(isBlind ? "off" : "on") },
    { keys: "v", label: "one item or several", group, run: () => onView(isBulk ? undefined : "bulk") },
  ])
  const left = Math.max(0, (counts?.own.open ?? 0) - uncounted)
  return (
    <>
      <PageBar
        title={queue.name}
        aside={
          <span aria-live="polite">
            you: {formatCount(own)} done, {formatCount(left)} left for you
          </span>
        }
        actions={
          <>
            {others.length > 0 && !isNarrow && (
              <span className={styles.people} title={others.map((one) => one.username ?? "somebody").join(", ")}>
                {others.slice(0, mostPeople).map((one) => (
                  <Avatar key={one.annotator_user_id} name={one.username ?? "?"} />
                ))}
                <span className={styles.words}>
                  {others.length === 1 ? "labels too" : `${others.length} label too`}
                </span>
              </span>
            )}
            {item !== undefined && state.lost !== item.id && (
              <LeaseRing
                end={state.leases.get(item.id) ?? null}
                seconds={queue.lease_seconds ?? 900}
                isShort={isNarrow}
              />
            )}
            <Button
              kind="quiet"
              icon={isBlind ? EyeOff : Eye}
              isOn={isBlind}
              keys={isNarrow ? undefined : "b"}
              aria-label={isNarrow ? "Blind" : undefined}
              title="Blind: suggestions, names of models and labels of others are hidden"
              onClick={() => onBlind(isBlind ? "off" : "on")}
            >
              {isNarrow ? undefined : "Blind"}
            </Button>
            {!isNarrow && (
              <Button
                kind="quiet"
                icon={isBulk ? RectangleVertical : LayoutGrid}
                keys="v"
                onClick={() => onView(isBulk ? undefined : "bulk")}
              >
                {isBulk ? "One item" : "Several items"}
              </Button>
            )}
            <Button
              kind="quiet"
              icon={BookOpen}
              keys={isNarrow ? undefined : "i"}
              aria-label={isNarrow ? "Instructions" : undefined}
              onClick={() => setReading(true)}
            >
              {isNarrow ? undefined : "Instructions"}
            </Button>
            {item !== undefined && !isNarrow && (
              <LinkButton
                id="label-trace"
                kind="quiet"
                icon={Route}
                keys="o"
                target="_blank"
                to="/$entity/$project/traces/$trace"
                params={{ ...params, trace: item.call_trace_id }}
                search={{ span: item.call_id }}
              >
                Full trace
              </LinkButton>
            )}
            {!isNarrow && (
              <LinkButton
                kind="quiet"
                icon={X}
                aria-label="Leave; what you have chosen is kept as a draft"
                to="/$entity/$project/queues/$id"
                params={params}
              />
            )}
          </>
        }
      />
      <div
        className={styles.progress}
        role="progressbar"
        aria-label="Finished items of the queue"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={counts?.items.finished ?? 0}
      >
        <i className={styles.own} style={{ width: share(own, total) }} title="you" />
        <i
          className={styles.others}
          style={{ width: share((counts?.items.finished ?? 0) - own, total) }}
          title="others"
        />
      </div>
      {isReading && (
        <Dialog title="Instructions" isOpen onClose={() => setReading(false)} width={560}>
          <div className={styles.instructions}>
            {queue.description === "" ? (
              <p className={styles.none}>
                Nobody wrote any. Whoever may write to the project adds them in the queue settings.
              </p>
            ) : (
              <Markdown text={queue.description} />
            )}
            {fields
              .filter(({ rule }) => rule !== "")
              .map(({ name, title, rule }) => (
                <div key={name} className={styles.rule}>
                  <h3>{title}</h3>
                  <Markdown text={rule} />
                </div>
              ))}
          </div>
        </Dialog>
      )}
    </>
  )
}

function share(part: number, whole: number): string {
  return whole === 0 ? "0" : `${(Math.max(0, part) / whole) * 100}%`
}

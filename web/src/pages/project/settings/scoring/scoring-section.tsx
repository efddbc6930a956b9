/** Rules that score new calls: whether each is at work, what it has counted, and a new one. */
import type { ScoringRule } from "@heddle/server/wire/evaluations/scoring-rule.ts"
import { Plus } from "lucide-react"
import { useState } from "react"
import { useScoringRules, useSwitchScoringRule } from "../../../../api/evaluations/scoring-rules.ts"
import { useMayWrite } from "../../../../api/rights.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Status, type StatusKind } from "../../../../components/signs/status.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { nounOf } from "../../../../format/counted.ts"
import { formatDuration } from "../../../../format/durations.ts"
import { formatChosenShare, formatCount } from "../../../../format/numbers.ts"
import { useProjectOfPage } from "../../../../shell/current-project.ts"
import { SectionHead } from "../section-head.tsx"
import { DeleteRule } from "./delete-rule.tsx"
import { NewRuleDialog } from "./new-rule.tsx"
import { scorerWords } from "./scorer-words.ts"
import styles from "./scoring-section.module.css"

const heads = [
  { name: "Rule", className: styles.name },
  { name: "Scores with", className: styles.scorer },
  { name: "Share", className: styles.count },
  { name: "Matched", className: styles.count },
  { name: "Scored", className: styles.count },
  { name: "Not scored", className: styles.notes },
  { name: "State", className: styles.state },
  { name: "Actions", className: styles.actions },
]

export function ScoringSection() {
  const { id } = useProjectOfPage()
  const mayWrite = useMayWrite(id)
  const rules = useScoringRules(id)
  const [isMaking, setMaking] = useState(false)
  return (
    <>
      <SectionHead
        title="Scoring rules"
        actions={
          mayWrite && (
            <Button kind="primary" icon={Plus} onClick={() => setMaking(true)}>
              New rule
            </Button>
          )
        }
      >
        A rule scores calls as they end: a share of those that it asks for, with a function or a judge. The scores are
        feedback on the calls. Published monitors stand here too.
      </SectionHead>
      <Loaded query={rules} what="rules">
        {({ rules: found }) =>
          found.length === 0 ? (
            <Empty title="No rules">
              New calls are scored by nobody here. A rule begins with the next call that ends.
            </Empty>
          ) : (
            <PlainTable label="Scoring rules" heads={heads}>
              {found.map((rule) => (
                <RuleRow key={rule.id} rule={rule} mayChange={mayWrite} />
              ))}
            </PlainTable>
          )
        }
      </Loaded>
      {isMaking && <NewRuleDialog projectId={id} onClose={() => setMaking(false)} />}
    </>
  )
}

const states: Record<ScoringRule["state"], [StatusKind, string]> = {
  active: ["ok", "at work"],
  paused: ["cancelled", "paused"],
  stopped: ["error", "stopped"],
}

function RuleRow({ rule, mayChange }: { rule: ScoringRule; mayChange: boolean }) {
  const { name, source, sampling_rate: share, counters, state, stopped_reason: reason, errors, scorer } = rule
  const change = useSwitchScoringRule(rule.id)
  const [kind, word] = states[state]
  const isOn = state === "active"
  return (
    <tr>
      <td className={styles.name} title={name}>
        {name}
        {source === "monitor" && " (monitor)"}
      </td>
      <td className={styles.scorer}>{scorerWords(scorer)}</td>
      <td className={styles.count}>{formatChosenShare(share)}</td>
      <td className={styles.count}>{formatCount(counters.matched)}</td>
      <td className={styles.count}>{formatCount(counters.scored)}</td>
      <td className={styles.notes} title={errors[0]?.message}>
        {leftWords(rule)}
      </td>
      <td className={styles.state} title={reason ?? undefined}>
        <Status of={kind}>{word}</Status>
        {reason !== null && <p className={styles.reason}>{reason}</p>}
        {change.error && <ErrorNote what="Nothing was changed." error={change.error} />}
      </td>
      <td className={styles.actions}>
        {mayChange && source === "rule" && (
          <>
            <Button
              size="small"
              kind="quiet"
              disabled={change.isPending}
              aria-label={`${isOn ? "Pause" : "Resume"} the rule ${name}`}
              onClick={() => change.mutate({ project_id: rule.project_id, active: !isOn })}
            >
              {isOn ? "Pause" : "Resume"}
            </Button>
            <DeleteRule rule={rule} />
          </>
        )}
      </td>
    </tr>
  )
}

function leftWords({ counters, lag_seconds: lag }: ScoringRule): string {
  const { failed, over_budget: over, overflowed, waiting } = counters
  const parts = [
    [waiting, `${nounOf(waiting, "waits", "wait")}, since ${formatDuration(lag * 1000)}`],
    [failed, "failed"],
    [over, "over budget"],
    [overflowed, "too many waited"],
  ] as const
  const said = parts.filter(([count]) => count > 0).map(([count, words]) => `${formatCount(count)} ${words}`)
  return said.length === 0 ? "none" : said.join(", ")
}

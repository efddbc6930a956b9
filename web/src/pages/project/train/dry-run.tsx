/** Result of the dry run: rows kept, rows dropped and why, cost, and the first rows. */
import type { TrainingDryRun } from "@heddle/server/wire/training/train-from.ts"
import { classNames } from "../../../components/class-names.ts"
import { PlainTable } from "../../../components/layout/plain-table.tsx"
import { Note } from "../../../components/states/note.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { formatEstimate } from "../../../format/durations.ts"
import { nounOf } from "../../../format/counted.ts"
import { formatCount } from "../../../format/numbers.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./dry-run.module.css"

interface DryRunProps {
  project: CurrentProject
  found: TrainingDryRun
  /** Another one is under way. */
  isOld: boolean
}

export function DryRun({ project, found, isOld }: DryRunProps) {
  return (
    <div className={classNames(isOld && styles.old)}>
      <Funnel project={project} found={found} />
      {found.warnings.map((warning) => (
        <div key={warning} className={styles.warning}>
          <Note kind="warn" title="Before you start">
            {warning}
          </Note>
        </div>
      ))}
      <Figures found={found} />
      {found.preview.length > 0 && <Preview project={project} found={found} />}
    </div>
  )
}

const leftWords = {
  sft: ["row", "to learn from"],
  rl: ["answer", "to compare"],
  dpo: ["pair", "to learn from"],
} as const

function Funnel({ project, found }: Pick<DryRunProps, "project" | "found">) {
  const { read, drops, kind } = found
  const left = found.pairs ?? found.rows
  const [unit, purpose] = leftWords[kind]
  return (
    <ul className={styles.funnel}>
      <li>
        <b className={styles.total}>{formatCount(read)}</b>
        <Bar share={1} />
        <span>read</span>
      </li>
      {drops.map(({ cause, reason, count, examples }) => (
        <li key={cause}>
          <span className={styles.less}>−{formatCount(count)}</span>
          <Bar share={read === 0 ? 0 : count / read} isLoss />
          <details className={styles.reason}>
            <summary>{reason}</summary>
            <ul>
              {examples.map(({ id, detail }) => (
                <li key={id}>
                  <RowLink project={project} id={id} /> {detail}
                </li>
              ))}
            </ul>
          </details>
        </li>
      ))}
      <li>
        <b className={styles.total}>{formatCount(left)}</b>
        <Bar share={shareLeft(found)} />
        <span>{`${nounOf(left, unit)} ${purpose}`}</span>
      </li>
    </ul>
  )
}

/** The share of what was read that is left. With pairs it is counted by drops, as an answer may be in several pairs. */
function shareLeft({ read, rows, pairs, drops }: TrainingDryRun): number {
  if (read === 0 || rows === 0) return 0
  if (pairs === null) return rows / read
  return Math.max(0, 1 - drops.reduce((sum, { count }) => sum + count, 0) / read)
}

function Bar({ share, isLoss = false }: { share: number; isLoss?: boolean }) {
  return (
    <span className={styles.bar} aria-hidden="true">
      <i
        className={classNames(isLoss && styles.loss)}
        style={{ width: `${Math.min(100, Math.max(share * 100, share > 0 ? 0.5 : 0))}%` }}
      />
    </span>
  )
}

/** Rows of datasets have digests, and no page. */
function RowLink({ project, id }: { project: CurrentProject; id: string }) {
  if (!/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(id)) return <code>{id.slice(0, 12)}</code>
  return (
    <TextLink to="/$entity/$project/r/call/$call" params={{ ...project.params, call: id }}>
      {id.slice(-12)}
    </TextLink>
  )
}

function Figures({ found }: Pick<DryRunProps, "found">) {
  const { kind, groups, groups_without_contrast: equal, groups_of_one: alone, time, tokens, corrected } = found
  return (
    <dl className={styles.figures}>
      <Figure name="Tokens" note={found.tokens_are_estimated ? "estimated" : "exact"}>
        {formatCount(tokens)}
      </Figure>
      <Figure name="Time here" note={time.reason}>
        {time.seconds === null ? "not known" : formatEstimate(time.seconds * 1000)}
      </Figure>
      {kind === "sft" && (
        <Figure name="Corrected" note="the correction takes the place of the answer">
          {formatCount(corrected)}
        </Figure>
      )}
      {groups !== null && (
        <Figure
          name={kind === "dpo" ? "Questions" : "Groups"}
          note={
            kind === "dpo"
              ? `${formatCount(equal ?? 0)} with equal scores and ${formatCount(alone ?? 0)} with one answer ${nounOf((equal ?? 0) + (alone ?? 0), "makes", "make")} no pair`
              : `${formatCount(equal ?? 0)} with equal rewards and ${formatCount(alone ?? 0)} of one answer ${nounOf((equal ?? 0) + (alone ?? 0), "teaches", "teach")} nothing`
          }
        >
          {formatCount(groups)}
        </Figure>
      )}
    </dl>
  )
}

function Figure({ name, note, children }: { name: string; note: string; children: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
      <dd className={styles.small}>{note}</dd>
    </div>
  )
}

const heads = [{ name: "Row", className: styles.id }, { name: "Asked" }]
const scoreHead = { name: "Score", className: styles.score }
const exampleHeads = [...heads, { name: "Answer to learn" }, scoreHead]
const pairHeads = [...heads, { name: "Better answer" }, { name: "Worse answer" }, scoreHead]
const rewardHeads = [...heads, { name: "Answer" }, { ...scoreHead, name: "Reward" }]
const headsOf = { sft: exampleHeads, rl: rewardHeads, dpo: pairHeads } as const

function Preview({ project, found }: Pick<DryRunProps, "project" | "found">) {
  const isOfPairs = found.kind === "dpo"
  return (
    <PlainTable label={isOfPairs ? "The first pairs" : "The first rows"} heads={headsOf[found.kind]}>
      {found.preview.map(({ id, question, answer, rejected, is_corrected: isCorrected, score }) => (
        <tr key={`${id} ${rejected ?? ""}`} className={styles.row}>
          <td className={styles.id}>
            <RowLink project={project} id={id} />
          </td>
          <td>{question}</td>
          <td>
            <mark className={styles.learnt}>{answer}</mark>
          </td>
          {isOfPairs && (
            <td>
              <mark className={styles.unlearnt}>{rejected}</mark>
            </td>
          )}
          <td className={styles.score}>{isCorrected ? "corrected" : score === null ? "" : `${score}`}</td>
        </tr>
      ))}
    </PlainTable>
  )
}

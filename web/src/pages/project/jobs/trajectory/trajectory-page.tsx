/** One trajectory of an RL job: what was said, token by token what was trained, and the same question at other steps. */
import type {
  TrainedGroup,
  TrainedTrajectory,
  TrajectoryGroupsAnswer,
} from "@heddle/server/wire/training/trained-trajectory.ts"
import { getRouteApi } from "@tanstack/react-router"
import { ChevronLeft, ChevronRight } from "lucide-react"
import type { ReactNode } from "react"
import { useTrainingJob } from "../../../../api/training/training.ts"
import { useTrajectory, useTrajectoryGroup } from "../../../../api/training/trajectories.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Segmented } from "../../../../components/controls/segmented.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { Split } from "../../../../components/layout/split.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { Note } from "../../../../components/states/note.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { formatChange, formatCount, formatScore } from "../../../../format/numbers.ts"
import { useKeys } from "../../../../keys/use-keys.ts"
import { type CurrentProject, useProjectOfPage } from "../../../../shell/current-project.ts"
import { jobTitle } from "../../training/job-words.ts"
import { eventsMs, underWay } from "../../training/live.ts"
import { Cells } from "./cells.tsx"
import { bestAndWorst, rewardScale } from "./group-cells.ts"
import { SameQuestion } from "./same-question.tsx"
import { TokenInspector } from "./token-inspector.tsx"
import { TokenLegend } from "./token-legend.tsx"
import { tokenAt } from "./token-values.ts"
import { heats, type TokenHeat } from "./trajectory-search.ts"
import { type TokenPlace, Turns } from "./turns.tsx"
import styles from "./trajectory-page.module.css"

const route = getRouteApi("/signed-in/$entity/$project/jobs/$id/groups/$group/$index")

const segments: { value: TokenHeat; label: string }[] = [
  { value: "surprise", label: "Surprise" },
  { value: "ratio", label: "Ratio" },
  { value: "advantage", label: "Advantage" },
  { value: "trained", label: "Trained" },
]

export function TrajectoryPage() {
  const { id, group, index } = route.useParams()
  // Another trajectory is another page: nothing of the first stays.
  return <OneTrajectory key={`${id} ${group} ${index}`} id={id} group={Number(group)} index={Number(index)} />
}

function OneTrajectory({ id, group, index }: { id: string; group: number; index: number }) {
  const project = useProjectOfPage()
  const job = useTrainingJob(id, eventsMs)
  // Nothing is waited for where the job cannot be read.
  const isOpen = job.isPending ? undefined : job.data?.ended_at === null
  const everyMs = underWay.refetchInterval
  const query = useTrajectory(id, group, index, { isOpen, everyMs, isDone: isComplete })
  const groups = useTrajectoryGroup(id, group)
  const found = groups.data?.data.find((one) => one.group === group)
  const navigate = route.useNavigate()
  const go = (to: number | undefined) => {
    if (to === undefined) return
    void navigate({ params: (old) => ({ ...old, index: `${to}` }), search: ({ heat }) => ({ heat }) })
  }
  const indexes = found?.trajectories.map((one) => one.index) ?? []
  const here = indexes.indexOf(index)
  const ends = found === undefined ? null : bestAndWorst(found.trajectories)
  useKeys([
    { keys: "k", label: "trajectory before", group: "Trajectory", run: () => go(indexes[here - 1]) },
    { keys: "j", label: "next trajectory", group: "Trajectory", run: () => go(indexes[here + 1]) },
    {
      keys: "b",
      label: "best and worst",
      group: "Trajectory",
      run: () => go(index === ends?.best ? ends.worst : ends?.best),
    },
    ...heats.map((heat, place) => ({
      keys: `${place + 1}`,
      label: `colour by ${heat}`,
      group: "Trajectory",
      run: () => void navigate({ search: (old) => ({ ...old, heat }), replace: true }),
    })),
  ])
  return (
    <>
      <PageBar
        title={`Trajectory ${index}`}
        tab={`Trajectory ${index} of group ${group}`}
        crumb={
          <TextLink
            isQuiet
            to="/$entity/$project/jobs/$id"
            params={{ ...project.params, id }}
            search={{ view: "trajectories" }}
          >
            {job.data === undefined ? "Job" : jobTitle(job.data)}
          </TextLink>
        }
        aside={found && <span className={styles.aside}>of group {group}</span>}
        actions={
          <>
            <Button
              kind="quiet"
              icon={ChevronLeft}
              aria-label="Trajectory before"
              disabled={here <= 0}
              onClick={() => go(indexes[here - 1])}
            />
            <Button
              kind="quiet"
              icon={ChevronRight}
              aria-label="Next trajectory"
              disabled={here < 0 || here === indexes.length - 1}
              onClick={() => go(indexes[here + 1])}
            />
          </>
        }
      />
      <Loaded query={query} what="trajectory">
        {(trajectory) => (
          <TrajectoryContent project={project} trajectory={trajectory} answer={groups.data} isOpen={isOpen === true} />
        )}
      </Loaded>
    </>
  )
}

/** Whether every step that trains a part of it is done. */
function isComplete({ turns }: TrainedTrajectory): boolean {
  return turns.every(
    (turn) =>
      turn.type !== "completion" ||
      turn.tokens?.trained.every((is, at) => !is || turn.tokens?.logprobs[at] !== null) !== false,
  )
}

interface TrajectoryContentProps {
  project: CurrentProject
  trajectory: TrainedTrajectory
  answer: TrajectoryGroupsAnswer | undefined
  isOpen: boolean
}

function TrajectoryContent({ project, trajectory, answer, isOpen }: TrajectoryContentProps) {
  const { heat = "surprise", token } = route.useSearch()
  const navigate = route.useNavigate()
  const selected = placeOf(token, trajectory)
  const turn = selected === null ? undefined : trajectory.turns[selected.turn]
  const tokens = turn?.type === "completion" ? turn.tokens : null
  const sequence =
    turn?.type === "completion" && turn.sequence !== null ? trajectory.sequences[turn.sequence] : undefined
  const group = answer?.data.find((one) => one.group === trajectory.group)
  const scale = rewardScale(answer?.summary?.lowest_reward ?? null, answer?.summary?.highest_reward ?? null)
  return (
    <>
      <Facts trajectory={trajectory} />
      {(trajectory.drops.length > 0 || (isOpen && !isComplete(trajectory))) && (
        <div className={styles.notes}>
          {trajectory.drops.map((drop) => (
            <Note
              key={`${drop.cause} ${drop.place}`}
              kind={isCalm(drop.cause) ? "plain" : "warn"}
              title={`Not trained${drop.place === null ? "" : `: ${drop.place}`}.`}
            >
              {drop.reason}
            </Note>
          ))}
          {isOpen && !isComplete(trajectory) && <Note>Its gradient step is not done yet: ratios come with it.</Note>}
        </div>
      )}
      {group !== undefined && (
        <div className={styles.group} data-rows>
          <span className={styles.label}>Its group</span>
          <Cells
            project={project}
            jobId={trajectory.training_job_id}
            group={group}
            by="reward"
            scale={scale}
            current={trajectory.index}
            isFirst
          />
          <EndButtons group={group} index={trajectory.index} />
        </div>
      )}
      <Split
        label="Width of the turns"
        name="trajectory"
        start={66}
        first={
          <div className={styles.scrolls}>
            <div className={styles.tools}>
              <Segmented
                label="Colour of the tokens"
                value={heat}
                segments={segments}
                onChange={(value) => void navigate({ search: (old) => ({ ...old, heat: value }), replace: true })}
              />
              <TokenLegend heat={heat} />
            </div>
            <Turns
              project={project.id}
              trajectory={trajectory}
              heat={heat}
              selected={selected}
              onSelect={(place) =>
                void navigate({ search: (old) => ({ ...old, token: `${place.turn}.${place.place}` }), replace: true })
              }
            />
          </div>
        }
        second={
          <div className={styles.scrolls}>
            <TokenInspector
              token={tokens === null || selected === null ? null : tokenAt(tokens, selected.place, sequence)}
              place={selected?.place ?? 0}
              count={tokens?.token_ids.length ?? 0}
            />
            <SameQuestion project={project} jobId={trajectory.training_job_id} group={trajectory.group} scale={scale} />
          </div>
        }
      />
    </>
  )
}

function EndButtons({ group: { trajectories }, index }: { group: TrainedGroup; index: number }) {
  const navigate = route.useNavigate()
  const ends = bestAndWorst(trajectories)
  if (ends === null) return null
  const go = (to: number) =>
    void navigate({ params: (old) => ({ ...old, index: `${to}` }), search: ({ heat }) => ({ heat }) })
  return (
    <span className={styles.ends}>
      <Button size="small" disabled={index === ends.best} onClick={() => go(ends.best)}>
        Best
      </Button>
      <Button size="small" disabled={index === ends.worst} onClick={() => go(ends.worst)}>
        Worst
      </Button>
    </span>
  )
}

function Facts({ trajectory: { reward, advantage, sequences, question } }: { trajectory: TrainedTrajectory }) {
  const packed = sequences.filter(({ gradient_step: step }) => step !== null)
  const steps = [...new Set(packed.map(({ gradient_step: step }) => step))]
  const tokens = packed.reduce((sum, { trained_tokens: count }) => sum + count, 0)
  const way = advantage > 0 ? "made likelier" : advantage < 0 ? "made less likely" : "teaches nothing"
  return (
    <dl className={styles.facts}>
      <Fact name="Reward">{formatScore(reward)}</Fact>
      <Fact name="Advantage in its group">
        {formatChange(advantage)} <small>{way}</small>
      </Fact>
      <Fact name="Trained tokens">{formatCount(tokens)}</Fact>
      <Fact name={steps.length > 1 ? "Gradient steps" : "Gradient step"}>
        {steps.length === 0 ? "none" : steps.join(", ")}
      </Fact>
      <Fact name="Question" isWide>
        <span title={question}>{question || "none"}</span>
      </Fact>
    </dl>
  )
}

function Fact({ name, isWide = false, children }: { name: string; isWide?: boolean; children: ReactNode }) {
  return (
    <div className={isWide ? styles.wide : styles.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** It belongs to comparing that some of it teaches nothing. */
function isCalm(cause: TrainedTrajectory["drops"][number]["cause"]): boolean {
  return cause === "no_contrast" || cause === "zero_advantage"
}

/** null: the address names none that is there. */
function placeOf(token: string | undefined, { turns }: TrainedTrajectory): TokenPlace | null {
  const found = /^(\d{1,6})\.(\d{1,7})$/.exec(token ?? "")
  if (found === null) return null
  const place = { turn: Number(found[1]), place: Number(found[2]) }
  const turn = turns[place.turn]
  return turn?.type === "completion" && place.place < (turn.tokens?.token_ids.length ?? 0) ? place : null
}

/** The runs of the wandb client in a project: found by state, name, tag, group and job type, sorted by what they came to, compared. */
import { getRouteApi } from "@tanstack/react-router"
import { Columns3, GitCompareArrows, Trash2, X } from "lucide-react"
import { useState } from "react"
import { readNextPage } from "../../../api/pages.ts"
import { useMayWrite } from "../../../api/rights.ts"
import { type ListedRun, useRunCount, useRunPages } from "../../../api/runs/run-list.ts"
import { Button, LinkButton } from "../../../components/controls/button.tsx"
import { SelectField, TextField } from "../../../components/controls/field.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { counted } from "../../../format/counted.ts"
import { useKeys } from "../../../keys/use-keys.ts"
import { type CurrentProject, useProjectOfPage } from "../../../shell/current-project.ts"
import { useWhileShown } from "../../../url/use-while-shown.ts"
import { underWay } from "../training/live.ts"
import { LoggedList } from "../training/logged-list.tsx"
import { MoreRows } from "../training/more-rows.tsx"
import { TrainingTabs } from "../training/training-tabs.tsx"
import { mostRuns } from "./comparison/run-looks.ts"
import { DeleteRuns } from "./delete-runs.tsx"
import { NoRuns } from "./no-runs.tsx"
import { filterFields, isConfigPath, runSelection, type StateChoice } from "./run-selection.ts"
import styles from "./runs-page.module.css"
import { runStateChoices } from "./runs-search.ts"
import { RunsTable } from "./runs-table.tsx"

const route = getRouteApi("/signed-in/$entity/$project/runs")

export function RunsPage() {
  const project = useProjectOfPage()
  const search = route.useSearch()
  const selection = runSelection(search)
  const [isChoosing, setChoosing] = useState(false)
  const hasConfig = isChoosing || (search.cols ?? []).some(isConfigPath)
  const runs = useRunPages(project.params, selection, underWay, hasConfig)
  const count = useRunCount(project.params, selection, underWay)
  const isFiltered = selection.filters !== undefined
  const isEmpty = runs.data?.length === 0 && !isFiltered
  return (
    <>
      <PageBar
        title="Models & jobs"
        tab="Runs"
        aside={count.data !== undefined && !isEmpty && <span aria-live="polite">{counted(count.data, "run")}</span>}
        actions={
          <>
            <DeleteChosen project={project} runs={runs.data ?? []} />
            <CompareLink project={project} runs={runs.data ?? []} isFiltered={isFiltered} />
          </>
        }
      />
      <TrainingTabs
        project={project}
        {...(isEmpty ? {} : { tools: <Filters onColumns={() => setChoosing(true)} /> })}
      />
      <LoggedList>
        <Loaded query={runs} what="runs">
          {(rows) =>
            rows.length > 0 ? (
              <RunsTable
                project={project}
                runs={rows}
                onEnd={() => readNextPage(runs)}
                isChoosing={isChoosing}
                onChosen={() => setChoosing(false)}
              />
            ) : isFiltered ? (
              <NoneFound />
            ) : (
              <NoRuns project={project} />
            )
          }
        </Loaded>
        <MoreRows what="runs" query={runs} />
      </LoggedList>
    </>
  )
}

/** Of those that are ticked the listed ones: what is not seen is not deleted. */
function DeleteChosen({ project, runs }: { project: CurrentProject; runs: readonly ListedRun[] }) {
  const mayWrite = useMayWrite(project.id)
  const whileShown = useWhileShown()
  const { runs: ticked = [] } = route.useSearch()
  const navigate = route.useNavigate()
  const [asked, setAsked] = useState<readonly ListedRun[]>([])
  const chosen = runs.filter(({ name }) => ticked.includes(name))
  const leave = async () => {
    setAsked((now) => (now === asked ? [] : now))
    const gone = new Set(asked.map(({ name }) => name))
    await whileShown(() =>
      navigate({
        search: (before) => ({ ...before, runs: before.runs?.filter((name) => !gone.has(name)) }),
        replace: true,
      }),
    )
  }
  return (
    <>
      {mayWrite && chosen.length > 0 && (
        <Button kind="quiet" icon={Trash2} onClick={() => setAsked(chosen)}>
          Delete {counted(chosen.length, "run")}…
        </Button>
      )}
      {asked.length > 0 && <DeleteRuns runs={asked} leave={leave} onClose={() => setAsked([])} />}
    </>
  )
}

interface CompareLinkProps {
  project: CurrentProject
  /** Those that are listed. */
  runs: readonly ListedRun[]
  isFiltered: boolean
}

/** Those that are ticked; else the first two of the list. */
function CompareLink({ project, runs, isFiltered }: CompareLinkProps) {
  const { runs: chosen = [], sort } = route.useSearch()
  const navigate = route.useNavigate()
  const isChosen = chosen.length >= 2
  const all = isChosen ? chosen : runs.slice(0, 2).map(({ name }) => name)
  const compared = all.slice(0, mostRuns)
  const to = "/$entity/$project/run-comparison"
  const search = { runs: compared }
  useKeys([
    {
      keys: "c",
      label: "compare runs",
      group: "Runs",
      run: () => {
        if (compared.length >= 2) void navigate({ to, params: project.params, search })
      },
    },
  ])
  if (compared.length < 2) return null
  const first = isFiltered || sort !== undefined ? "Compare the first two" : "Compare the newest two"
  const words =
    all.length > mostRuns
      ? `Compare ${mostRuns} of ${all.length} runs`
      : isChosen
        ? `Compare ${all.length} runs`
        : first
  return (
    <LinkButton
      kind="primary"
      icon={GitCompareArrows}
      to={to}
      params={project.params}
      search={search}
      title={all.length > mostRuns ? `At most ${mostRuns} runs: more lines could not be told apart` : undefined}
    >
      {words}
    </LinkButton>
  )
}

const stateWords: Readonly<Record<StateChoice, string>> = {
  running: "Running",
  finished: "Finished",
  failed: "Failed",
  crashed: "Crashed",
  killed: "Killed",
  unsuccessful: "Unsuccessful",
}

function Filters({ onColumns }: { onColumns: () => void }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changes: typeof search) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
  return (
    <>
      {filterFields.map(
        ({ key, word }) =>
          search[key] && (
            <Button
              key={key}
              size="small"
              icon={X}
              aria-label={`Leave out the ${word} ${search[key]}`}
              onClick={() => change({ [key]: undefined })}
            >
              <span className={styles.filter}>
                {word} {search[key]}
              </span>
            </Button>
          ),
      )}
      <span className={styles.state}>
        <SelectField
          label="State"
          isLabelHidden
          value={search.state ?? ""}
          onChange={({ target }) => change({ state: runStateChoices.find((state) => state === target.value) })}
        >
          <option value="">Any state</option>
          {runStateChoices.map((state) => (
            <option key={state} value={state}>
              {stateWords[state]}
            </option>
          ))}
        </SelectField>
      </span>
      <span className={styles.find}>
        <TextField
          label="Find a run by its name"
          isLabelHidden
          type="search"
          placeholder="Find by name"
          maxLength={80}
          value={search.q ?? ""}
          onChange={({ target }) => change({ q: target.value || undefined })}
        />
      </span>
      <Button kind="quiet" icon={Columns3} onClick={onColumns}>
        Columns
      </Button>
    </>
  )
}

function NoneFound() {
  const navigate = route.useNavigate()
  return (
    <Empty
      title="No run fits"
      actions={
        <Button
          onClick={() =>
            void navigate({
              search: ({ runs, sort, up, cols }) => ({ runs, sort, up, cols }),
              replace: true,
            })
          }
        >
          Show all runs
        </Button>
      }
    >
      No run of this project has that name, state, tag, group or job type.
    </Empty>
  )
}

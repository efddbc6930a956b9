/** Makes a queue from a name, its questions and the calls that were selected or filtered; or adds these to one that is there. */
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { type FormEvent, useState } from "react"
import { useQueues, useQueueWork } from "../../../../api/labelling/annotation-queues.ts"
import { useCallCount } from "../../../../api/calls/calls.ts"
import { findCallIds } from "../../../../api/labelling/labelling.ts"
import { selectionOf } from "../../../../calls/filter/filter-query.ts"
import { Button, LinkButton } from "../../../../components/controls/button.tsx"
import { SelectField, TextArea, TextField } from "../../../../components/controls/field.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Note } from "../../../../components/states/note.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { counted } from "../../../../format/counted.ts"
import { formatCount } from "../../../../format/numbers.ts"
import { formatTick } from "../../../../format/times.ts"
import { type FieldDraft, fieldFaults } from "../../../../labelling/field-draft.ts"
import { listOfAddress } from "../../../../kept/kept-list.ts"
import { useProjectOfPage } from "../../../../shell/current-project.ts"
import { LostSelection } from "../../lost-selection.tsx"
import { readFilter } from "../../traces/filter-bar.tsx"
import { timeRangeOf } from "../../traces/time-range.ts"
import { useWhileShown } from "../../../../url/use-while-shown.ts"
import { noCountFrom, numberOf } from "../../typed-numbers.ts"
import { FieldsEditor, useProjectFields } from "../fields-editor.tsx"
import styles from "./new-queue-page.module.css"
import { useSaveQueue } from "./use-save-queue.ts"

const route = getRouteApi("/signed-in/$entity/$project/queues/new")

const dayMs = 24 * 3600 * 1000
/** So many calls of a filter can be added at once. */
const mostAdded = 10_000
const newestFirst = [{ field: "started_at", direction: "desc" }] as const

export function NewQueuePage() {
  const { calls = [] } = route.useSearch()
  const picked = listOfAddress(localStorage, calls)
  return picked === null ? <LostSelection /> : <NewQueue picked={picked} />
}

/** `picked`: ids of calls. */
function NewQueue({ picked }: { picked: readonly string[] }) {
  const project = useProjectOfPage()
  const { params } = project
  const search = route.useSearch()
  const navigate = useNavigate()
  const change = (next: Partial<typeof search>) =>
    void navigate({ to: "/$entity/$project/queues/new", params, search: { ...search, ...next }, replace: true })
  const [openedAt] = useState(() => Date.now())
  const { q, from = "", to = "", scope, queue: target = "" } = search
  const isFilter = picked.length === 0 && (q !== undefined || search.all === true)
  const { clauses, error: filterError } = readFilter(q ?? "")
  const range = timeRangeOf(from, to, openedAt)
  const selection = selectionOf(clauses, {
    projectId: project.id,
    rootsOnly: scope !== "all",
    from: range.from,
    to: range.to,
  })
  const count = useCallCount(
    { project_id: project.id, ...selection, limit: mostAdded },
    { enabled: isFilter && filterError === null },
  )
  const queues = useQueues({ project_id: project.id, limit: 200 })
  const work = useQueueWork({ project_id: project.id, queue_ids: [] })
  const known = useProjectFields(project.id).fields.map((field) => field.name)

  const [name, setName] = useState(() => `Calls of ${formatTick(new Date(openedAt), dayMs)}`)
  const [instructions, setInstructions] = useState("")
  const [people, setPeople] = useState("1")
  const [shown, setShown] = useState("inputs, output")
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [added, setAdded] = useState<readonly FieldDraft[]>([])
  const [most, setMost] = useState("")
  const [isChecked, setChecked] = useState(false)
  const whileShown = useWhileShown()
  const { busy, failure, save } = useSaveQueue(project.id, {
    // A second try does not make it again.
    onQuestion: (field, refs) => {
      setChosen(refs)
      setAdded((left) => left.filter((one) => one !== field))
    },
    // A second try adds to what is made already.
    onQueue: (id) => void whileShown(() => change({ queue: id })),
    onSaved: (id) => whileShown(() => navigate({ to: "/$entity/$project/queues/$id", params: { ...params, id } })),
  })

  const matching = Math.min(count.data?.count ?? 0, mostAdded)
  const mostFault = most.trim() === "" ? null : noCountFrom(1)(most)
  // Whoever does not wait for the count gets what there is.
  const wanted = Math.min(count.data === undefined ? mostAdded : matching, numberOf(most) ?? mostAdded)
  const isNew = target === ""
  const faults = [
    ...(isNew && name.trim() === "" ? ["Give the queue a name."] : []),
    ...(isNew && chosen.length + added.length === 0 ? ["Choose a question, or write one."] : []),
    ...(isNew ? fieldFaults(added, known).filter((fault) => fault !== null) : []),
    ...(isFilter && mostFault !== null ? [mostFault] : []),
  ]
  const maySave = work.data === undefined || work.data.caller.may_write

  const submit = (event: FormEvent) => {
    event.preventDefault()
    setChecked(true)
    if (faults.length > 0 || busy !== null) return
    const found = { project_id: project.id, ...selection, sort_by: newestFirst, limit: wanted }
    void save({
      findCalls: async () => (isFilter ? (wanted === 0 ? [] : findCallIds(found)) : picked),
      target: isNew ? { name, instructions, people: Number(people), refs: chosen, added } : target,
      shown: shownPaths(shown),
    })
  }

  return (
    <>
      <PageBar
        crumb={
          <TextLink isQuiet to="/$entity/$project/queues" params={params}>
            Labelling
          </TextLink>
        }
        title={isNew ? "New queue" : "Add to a queue"}
      />
      <form className={styles.form} onSubmit={submit}>
        <section className={styles.part} aria-label="Items">
          <h2>Items</h2>
          {picked.length > 0 ? (
            <p>{counted(picked.length, "selected call")}.</p>
          ) : isFilter ? (
            filterError !== null ? (
              <Note kind="bad" title="The filter is not understood.">
                {filterError.message}
              </Note>
            ) : (
              <>
                <FilteredCalls count={count} q={q ?? ""} range={range.name} />
                <div className={styles.short}>
                  <TextField
                    label="How many, the newest first"
                    inputMode="numeric"
                    value={most}
                    error={mostFault}
                    placeholder={`all ${formatCount(matching)}`}
                    onChange={(event) => setMost(event.target.value)}
                  />
                </div>
              </>
            )
          ) : (
            <p>
              None yet. Calls come in from{" "}
              <TextLink to="/$entity/$project/traces" params={params}>
                Traces
              </TextLink>
              : select some, or filter them, and press Add to queue.{" "}
              <Button size="small" onClick={() => change({ all: true })}>
                Take all traces
              </Button>
            </p>
          )}
          <TextField
            label="What annotators see of a call"
            isMono
            value={shown}
            hint="Paths with commas between, such as inputs.question, output. Inputs and output of a chat are shown as a conversation."
            onChange={(event) => setShown(event.target.value)}
          />
        </section>
        <section className={styles.part} aria-label="Queue">
          <h2>Queue</h2>
          <SelectField label="Add them to" value={target} onChange={(event) => change({ queue: event.target.value })}>
            <option value="">a new queue</option>
            {(queues.data ?? []).map((queue) => (
              <option key={queue.id} value={queue.id}>
                {queue.name}
              </option>
            ))}
          </SelectField>
          {isNew && (
            <>
              <TextField
                label="Name"
                value={name}
                maxLength={256}
                placeholder="Refund tone"
                error={isChecked && name.trim() === "" ? "Give the queue a name." : null}
                onChange={(event) => setName(event.target.value)}
              />
              <div className={styles.short}>
                <SelectField label="People an item" value={people} onChange={(event) => setPeople(event.target.value)}>
                  {[1, 2, 3, 4, 5].map((number) => (
                    <option key={number}>{number}</option>
                  ))}
                </SelectField>
              </div>
              <TextArea
                label="Instructions, as Markdown"
                rows={3}
                value={instructions}
                onChange={(event) => setInstructions(event.target.value)}
              />
            </>
          )}
        </section>
        {isNew && (
          <section className={styles.part} aria-label="Questions">
            <h2>Questions</h2>
            <FieldsEditor
              projectId={project.id}
              chosen={chosen}
              onChosen={setChosen}
              added={added}
              onAdded={setAdded}
              isChecked={isChecked}
            />
            {isChecked && chosen.length + added.length === 0 && (
              <p className={styles.bad} role="alert">
                Choose a question, or write one.
              </p>
            )}
          </section>
        )}
        <section className={styles.part}>
          {failure !== null && <ErrorNote what={failure.what} error={failure.error} />}
          {!maySave && (
            <Note kind="warn" title="Your role here does not make queues.">
              An administrator of {project.entity} can make you a member.
            </Note>
          )}
          <div className={styles.actions}>
            <LinkButton to="/$entity/$project/queues" params={params}>
              Leave it
            </LinkButton>
            <Button kind="primary" type="submit" disabled={busy !== null || !maySave}>
              {busy ?? (isNew ? "Make the queue" : "Add the calls")}
            </Button>
          </div>
        </section>
      </form>
    </>
  )
}

interface FilteredCallsProps {
  count: ReturnType<typeof useCallCount>
  q: string
  /** Name of the time that they began in, such as `Last 24 hours`. */
  range: string
}

/** How many calls the filter finds. */
function FilteredCalls({ count, q, range }: FilteredCallsProps) {
  const { data, error } = count
  return (
    <>
      <p aria-live="polite">
        {data === undefined ? error === null && "Counting the calls…" : matchWords(data.count, q, range)}
      </p>
      {error !== null && (
        <ErrorNote what="The calls could not be counted." error={error} onRetry={() => void count.refetch()} />
      )}
    </>
  )
}

function matchWords(found: number, q: string, range: string): string {
  if (found === 0) return "No call matches the filter; the queue would be empty."
  const atLeast = found >= mostAdded ? "≥ " : ""
  const matching = Math.min(found, mostAdded)
  const calls =
    q === "" ? `${counted(matching, "call")}: ` : `${counted(matching, "call matches", "calls match")} “${q}”, `
  return `${atLeast}${calls}${range.charAt(0).toLowerCase()}${range.slice(1)}.`
}

/** Paths that are written with commas between. */
function shownPaths(text: string): string[] {
  return text
    .split(",")
    .map((path) => path.trim())
    .filter((path) => path !== "")
}

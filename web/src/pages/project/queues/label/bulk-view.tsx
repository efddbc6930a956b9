/** Several items at once: select some, and one key labels them all. */
import { useState } from "react"
import { useItemCalls } from "../../../../api/labelling/labelling.ts"
import { classNames } from "../../../../components/class-names.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Checkbox } from "../../../../components/controls/field.tsx"
import { Segmented } from "../../../../components/controls/segmented.tsx"
import { Note } from "../../../../components/states/note.tsx"
import { Keys } from "../../../../components/signs/keys.tsx"
import { toggled } from "../../../../components/data-table/selection.ts"
import type { Call } from "../../../../api/calls/calls.ts"
import { payloadPreview } from "../../../../calls/payload-preview.ts"
import { useKeys } from "../../../../keys/use-keys.ts"
import { labelledItem, skippedItem } from "../../../../labelling/finished-item.ts"
import { isChosen, openFields, withChoice } from "../../../../labelling/label-draft.ts"
import { isSame, type LabelField, wordOf } from "../../../../labelling/label-fields.ts"
import { draftIn, type Item } from "../../../../labelling/label-session.ts"
import { givenLabels } from "../../../../labelling/suggestions.ts"
import styles from "./bulk-view.module.css"
import { LabelFoot } from "./label-foot.tsx"
import type { Work } from "./labelling.tsx"

interface BulkViewProps extends Work {
  field: string | undefined
  onField: (field: string | undefined) => void
}

const group = "Several items"

export function BulkView(props: BulkViewProps) {
  const { project, fields, session, state, userId, isBlind, field: named, onField } = props
  const calls = useItemCalls(
    project.id,
    state.held.map((item) => item.call_id),
  )
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [current, setCurrent] = useState(0)
  const inHand = Math.min(current, state.held.length - 1)
  const withOptions = fields.filter(({ options }) => options.length > 0)
  const field = withOptions.find(({ name }) => name === named) ?? withOptions[0]
  const rows = state.held.map((item, index) => ({ item, call: calls[index]?.data?.[0] }))
  const labelsOf = (call: Call | undefined) =>
    call === undefined || isBlind ? null : givenLabels(fields, call.summary, userId)
  const chosen = rows.filter(({ item }) => selected.has(item.id))
  // Without a selection keys mean the row in hand; never one that somebody else has now.
  const meant = (chosen.length > 0 ? chosen : rows.slice(inHand, inHand + 1)).filter(
    ({ item }) => item.id !== state.lost,
  )
  const ready = meant.filter(({ item }) => openFields(fields, draftIn(state, item.id)).length === 0)

  const choose = (one: LabelField, value: unknown) => {
    if (meant.length === 0) return
    const isOnAll = meant.every(({ item }) => isChosen(one, draftIn(state, item.id), value))
    for (const { item } of meant) {
      const draft = draftIn(state, item.id)
      // A choice of several goes to all items if some lack it.
      if (one.kind !== "many" || isOnAll || !isChosen(one, draft, value))
        session.setDraft(item.id, withChoice(one, draft, value))
    }
    const place = withOptions.indexOf(one)
    const next = withOptions[place + 1]
    if (one.kind === "choice" && next !== undefined) onField(next.name)
  }
  const submit = () => {
    if (meant.length === 0 && state.lost !== null) return session.letGo()
    if (ready.length === 0) return
    session.finish(ready.map(({ item, call }) => labelledItem(item, fields, draftIn(state, item.id), labelsOf(call))))
    const gone = new Set(ready.map(({ item }) => item.id))
    setSelected(new Set([...selected].filter((id) => !gone.has(id))))
    onField(undefined)
  }
  const skip = () => {
    if (meant.length === 0) return
    session.finish(meant.map(({ item }) => skippedItem(item, draftIn(state, item.id), "")))
    setSelected(new Set())
  }
  const step = (by: 1 | -1) => {
    const next = Math.min(state.held.length - 1, Math.max(0, inHand + by))
    setCurrent(next)
    document.querySelector(`[data-row="${next}"]`)?.scrollIntoView({ block: "nearest" })
  }
  const select = (item: Item | undefined) => item !== undefined && setSelected(toggled(selected, item.id))
  useKeys([
    ...(field?.options ?? []).slice(0, 9).map((option, index) => ({
      keys: String(index + 1),
      label: "label the selection",
      group,
      run: () => field && choose(field, option.value),
    })),
    { keys: "j", label: "next row", group, run: () => step(1), mayRepeat: () => true },
    { keys: "k", label: "previous row", group, run: () => step(-1), mayRepeat: () => true },
    { keys: "x", label: "select", group, run: () => select(rows[inHand]?.item) },
    {
      keys: "X",
      label: "select and go on",
      group,
      run: () => {
        select(rows[inHand]?.item)
        step(1)
      },
    },
    { keys: "a", label: "select all", group, run: () => setSelected(new Set(rows.map(({ item }) => item.id))) },
    { keys: "Escape", label: "clear the selection", group, run: () => setSelected(new Set()) },
    { keys: "Enter", label: "submit the selection", group, run: submit },
    { keys: "mod+Enter", label: "submit the selection", group, isEverywhere: true, run: submit },
    { keys: "s", label: "skip the selection", group, run: skip },
  ])
  return (
    <>
      <div className={styles.tools}>
        <Checkbox
          label="All"
          checked={selected.size > 0 && chosen.length === rows.length}
          onChange={(event) => setSelected(event.target.checked ? new Set(rows.map(({ item }) => item.id)) : new Set())}
        />
        <b className={styles.count} aria-live="polite">
          {chosen.length > 0 ? `${chosen.length} of ${rows.length} selected` : `${rows.length} in your hands`}
        </b>
        {withOptions.length > 1 && field !== undefined && (
          <Segmented
            label="Question"
            size="small"
            value={field.name}
            segments={withOptions.map(({ name, title }) => ({ value: name, label: title }))}
            onChange={onField}
          />
        )}
        {field !== undefined && (
          <span className={styles.options} role="group" aria-label={`Label the selection: ${field.title}`}>
            {field.options.map(({ value, label }, index) => (
              <Button
                key={label}
                size="small"
                keys={index < 9 ? String(index + 1) : undefined}
                isOn={meant.length > 0 && meant.every(({ item }) => isChosen(field, draftIn(state, item.id), value))}
                onClick={() => choose(field, value)}
              >
                {label}
              </Button>
            ))}
          </span>
        )}
        <span className={styles.hints}>
          <Keys of="j" /> <Keys of="k" /> row <Keys of="x" /> select <Keys of="a" /> all
        </span>
      </div>
      {field === undefined && (
        <p className={styles.none}>
          None of this queue’s questions has options, so there is nothing that one key could say of several items. Press
          v for one item at a time.
        </p>
      )}
      {state.lost !== null && (
        <div className={styles.note}>
          <Note
            kind="warn"
            title="Somebody else has the first of these items now."
            actions={
              <Button size="small" keys={meant.length === 0 ? "Enter" : undefined} onClick={() => session.letGo()}>
                Leave it out
              </Button>
            }
          >
            What you chose is kept on this device.
          </Note>
        </div>
      )}
      <ul className={styles.rows} aria-label="Items in your hands" tabIndex={0}>
        {rows.map(({ item, call }, index) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- j, k and x are the list's
          <li
            key={item.id}
            data-row={index}
            aria-current={index === inHand ? "true" : undefined}
            className={classNames(
              styles.row,
              selected.has(item.id) && styles.selected,
              state.lost === item.id && styles.lost,
            )}
            onClick={(event) => {
              setCurrent(index)
              if (!(event.target instanceof HTMLInputElement) && !(event.target instanceof HTMLLabelElement))
                select(item)
            }}
          >
            <Checkbox
              label={`Select item ${index + 1}`}
              isLabelHidden
              checked={selected.has(item.id)}
              onChange={() => select(item)}
            />
            <div className={styles.words}>
              <p className={styles.asked}>{call === undefined ? "…" : payloadPreview(call.inputs)}</p>
              <p className={styles.answer}>{call === undefined ? "…" : payloadPreview(call.output)}</p>
            </div>
            <Answers fields={fields} state={state} item={item} labels={labelsOf(call)} />
          </li>
        ))}
      </ul>
      <LabelFoot
        {...props}
        open={ready.length > 0 ? 0 : (meant[0] && openFields(fields, draftIn(state, meant[0].item.id)).length) || null}
        submitWords={ready.length < 2 ? "Submit" : `Submit ${ready.length}`}
        onSkipping={skip}
        onSubmit={submit}
      />
    </>
  )
}

interface AnswersProps extends Pick<Work, "fields" | "state"> {
  item: Item
  labels: ReturnType<typeof givenLabels> | null
}

/** The answers so far; dashed: a scorer's suggestions. */
function Answers({ fields, state, item, labels }: AnswersProps) {
  const draft = draftIn(state, item.id)
  return (
    <span className={styles.answers}>
      {fields.map((field) => {
        const given = draft.answers[field.name]
        const isGiven = given !== undefined && given !== "" && !(Array.isArray(given) && given.length === 0)
        const suggestion = labels?.suggestions[field.name]
        if (isGiven) {
          const isAccepted = suggestion !== undefined && isSame(suggestion.value, given)
          return (
            <span key={field.name} className={styles.given} title={isAccepted ? "as suggested" : field.title}>
              {wordOf(given)}
            </span>
          )
        }
        return suggestion === undefined ? null : (
          <span
            key={field.name}
            className={styles.suggested}
            title={`${field.title}: suggested by ${suggestion.scorer}`}
          >
            {wordOf(suggestion.value)}
          </span>
        )
      })}
    </span>
  )
}

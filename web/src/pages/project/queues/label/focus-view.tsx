/** One item: what is to be judged, the questions about it, and what was done before. */
import { useEffect, useRef, useState } from "react"
import { useItemCalls } from "../../../../api/labelling/labelling.ts"
import { payloadPreview } from "../../../../calls/payload-preview.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Note } from "../../../../components/states/note.tsx"
import { SkeletonRows } from "../../../../components/states/skeleton.tsx"
import { useKeys } from "../../../../keys/use-keys.ts"
import { labelledItem, skippedItem } from "../../../../labelling/finished-item.ts"
import { type Draft, openFields, withAnswer, withChoice } from "../../../../labelling/label-draft.ts"
import type { LabelField } from "../../../../labelling/label-fields.ts"
import { draftIn, type Item } from "../../../../labelling/label-session.ts"
import { givenLabels } from "../../../../labelling/suggestions.ts"
import { useMedia } from "../../../../shell/use-media.ts"
import { ItemContent } from "../item-content.tsx"
import styles from "./focus-view.module.css"
import { ItemRail } from "./item-rail.tsx"
import { LabelFoot } from "./label-foot.tsx"
import type { Work } from "./labelling.tsx"
import { Questions } from "./questions.tsx"

interface ViewProps extends Work {
  field: string | undefined
  onField: (field: string | undefined) => void
}

/** The one in hand and those that follow. */
const mostRead = 4
const group = "Labelling"

export function FocusView(props: ViewProps) {
  const { project, state } = props
  const read = state.held.slice(0, mostRead)
  const calls = useItemCalls(
    project.id,
    read.map((item) => item.call_id),
  )
  const [item] = read
  if (item === undefined) return null
  return (
    <OneItem
      key={item.id}
      {...props}
      item={item}
      query={calls[0]}
      previews={calls.map(({ data }) => (data?.[0] === undefined ? null : payloadPreview(data[0].inputs)))}
    />
  )
}

interface OneItemProps extends ViewProps {
  item: Item
  query: ReturnType<typeof useItemCalls>[number] | undefined
  /** Questions of the held items; null: not loaded yet. */
  previews: readonly (string | null)[]
}

function OneItem(props: OneItemProps) {
  const { fields, session, state, item, query, previews, isBlind, userId, nameOf, field, onField } = props
  const isNarrow = useMedia("(max-width: 699px)")
  const draft = draftIn(state, item.id)
  const call = query?.data?.[0]
  const given = call === undefined || isBlind ? null : givenLabels(fields, call.summary, userId)
  const missing = openFields(fields, draft)
  const [isSkipping, setSkipping] = useState(false)
  // A field that the address names counts for the first item; later ones begin with their first question.
  const [active, setActive] = useState(
    () => fields.find(({ name }) => name === field)?.name ?? (missing[0] ?? fields[0])?.name,
  )
  const note = useRef<HTMLTextAreaElement>(null)
  const isLost = state.lost === item.id
  const activate = (name: string) => {
    setActive(name)
    onField(name)
  }
  const set = (next: Draft) => session.setDraft(item.id, next)
  const goOn = (after: string | undefined, changed: Draft) => {
    const place = fields.findIndex(({ name }) => name === after)
    const open = openFields(fields, changed)
    const next = fields.slice(place + 1).find((one) => open.includes(one)) ?? fields[place + 1] ?? open[0]
    if (next !== undefined) activate(next.name)
  }
  const choose = (one: LabelField, value: unknown) => {
    if (isLost) return
    const next = withChoice(one, draft, value)
    set(next)
    if (one.kind === "choice") goOn(one.name, next)
    else activate(one.name)
  }
  const submit = () => {
    if (isLost) return
    const [first] = openFields(fields, draft)
    if (first !== undefined) return activate(first.name)
    onField(undefined)
    session.finish([labelledItem(item, fields, draft, given)])
  }
  const skip = (reason: string) => {
    if (isLost) return
    onField(undefined)
    session.finish([skippedItem(item, draft, reason)])
  }
  const inFocus = fields.find(({ name }) => name === active)
  const digits = (inFocus?.options ?? []).slice(0, 9)
  useKeys([
    ...digits.map((option, index) => ({
      keys: String(index + 1),
      label: "choose",
      group,
      run: () => inFocus && choose(inFocus, option.value),
    })),
    {
      keys: "Enter",
      label: "go on; when all is answered, submit",
      group,
      run: () => {
        if (isLost) return session.letGo()
        if (missing.length === 0) submit()
        else goOn(active, draft)
      },
    },
    { keys: "mod+Enter", label: "submit and next, also in a note", group, isEverywhere: !isSkipping, run: submit },
    { keys: "s", label: "skip, with a reason", group, run: () => setSkipping(true) },
    { keys: "n", label: "note", group, run: () => note.current?.focus() },
  ])
  // The keyboard is with the question in focus, for readers and for Tab.
  useEffect(() => {
    if (active !== undefined && !isNarrow)
      document
        .querySelector<HTMLElement>(
          `[data-question="${CSS.escape(active)}"] [tabindex="0"], [data-question="${CSS.escape(active)}"] :is(input, textarea)`,
        )
        ?.focus()
  }, [active, isNarrow])
  return (
    <>
      <div className={styles.body}>
        {!isNarrow && <ItemRail {...props} previews={previews} />}
        <section className={styles.item} aria-label="Item" data-item={item.id} tabIndex={0}>
          <div className={styles.content}>
            {isLost && (
              <div className={styles.note}>
                <Note
                  kind="warn"
                  title="Somebody else has this item now."
                  actions={
                    <Button size="small" keys="Enter" onClick={() => session.letGo()}>
                      Next item
                    </Button>
                  }
                >
                  What you chose is kept on this device.
                </Note>
              </div>
            )}
            {query?.error && (
              <div className={styles.note}>
                <ErrorNote
                  what="The call could not be read."
                  error={query.error}
                  onRetry={() => void query.refetch()}
                />
              </div>
            )}
            {call !== undefined ? (
              <ItemContent call={call} displayFields={item.display_fields} isBlind={isBlind} />
            ) : query?.isSuccess === true ? (
              <Note title="The call was deleted.">Skip the item; the lead can take it out of the queue.</Note>
            ) : (
              query?.error === null && <SkeletonRows what="Reading the call" rows={6} />
            )}
          </div>
        </section>
        <Questions
          fields={fields}
          draft={draft}
          active={active}
          given={given}
          nameOf={nameOf}
          isStepwise={isNarrow}
          isDisabled={isLost}
          noteRef={note}
          onChoose={choose}
          onType={(one, text) => set(withAnswer(one, draft, text))}
          onNote={(text) => set({ ...draft, note: text })}
          onActivate={activate}
        />
      </div>
      <LabelFoot
        {...props}
        open={isLost ? null : missing.length}
        isSkipping={isSkipping}
        onSkipping={setSkipping}
        onSkip={skip}
        onSubmit={submit}
      />
    </>
  )
}

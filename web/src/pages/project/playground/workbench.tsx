/** A conversation and the models that go on with it, a column each. */
import { getRouteApi } from "@tanstack/react-router"
import { Plus } from "lucide-react"
import { type CSSProperties, useRef, useState } from "react"
import { Button } from "../../../components/controls/button.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { Note } from "../../../components/states/note.tsx"
import { mostColumns } from "../../../playground/conversation.ts"
import { AnswerColumn } from "./answer-column.tsx"
import { Composer } from "./composer.tsx"
import { useIsTooLarge } from "./conversations.ts"
import { ModelPicker } from "./model-picker.tsx"
import { ParameterBar } from "./parameter-bar.tsx"
import { PromptTurns } from "./prompt-turns.tsx"
import { type Asked, useAsking } from "./use-asking.ts"
import { useVote } from "./use-vote.ts"
import { useWorkbenchKeys } from "./use-workbench-keys.ts"
import { WorkbenchBar } from "./workbench-bar.tsx"
import styles from "./workbench.module.css"

const route = getRouteApi("/signed-in/$entity/$project/playground/{-$conversation}")

export function Workbench(props: Asked) {
  const { project, id, models } = props
  const search = route.useSearch()
  const [next, setNext] = useState("")
  const composer = useRef<HTMLTextAreaElement>(null)
  const isTooLarge = useIsTooLarge(id)
  const asking = useAsking(props)
  const { conversation, change, runAll } = asking
  const { columns, prompt } = conversation
  const vote = useVote(project.id, id, conversation)
  const { order, canJudge, judge } = vote
  const send = () => {
    if (asking.send(next)) setNext("")
  }
  useWorkbenchKeys({
    vote,
    sendOrRun: () => (next.trim() === "" ? runAll() : send()),
    toNextMessage: () => composer.current?.focus(),
  })
  return (
    <div className={styles.page}>
      <WorkbenchBar project={project} asking={asking} vote={vote} />
      <ParameterBar conversation={conversation} search={search} onConversation={change} />
      <PromptTurns
        prompt={prompt}
        hasAnswers={columns.some(({ turns }) => turns.length > 0)}
        onChange={(changed) => change({ ...conversation, prompt: changed })}
        onRun={runAll}
      />
      {isTooLarge && (
        <div className={styles.note}>
          <Note kind="warn" title="This conversation is too large for the tab's storage.">
            A reload of the page would lose it. What was asked and answered is recorded as calls.
          </Note>
        </div>
      )}
      {models.error !== null && (
        <div className={styles.note}>
          <ErrorNote what="The models could not be read." error={models.error} onRetry={models.refetch} />
        </div>
      )}
      {vote.error !== null && (
        <div className={styles.note}>
          <ErrorNote what="The vote was not stored." error={vote.error} />
        </div>
      )}
      <div className={styles.columns} style={{ "--columns": Math.max(1, columns.length) } as CSSProperties}>
        {order.map((index, place) => (
          <AnswerColumn
            key={index}
            project={project}
            conversation={conversation}
            index={index}
            place={place}
            hiddenAs={vote.isHidden ? `Answer ${"ABCDEF"[place] ?? place + 1}` : null}
            color={search.color ?? "surprise"}
            first={columns[order[0] ?? 0]}
            models={models}
            actions={asking.actionsOf(index)}
            onBetter={canJudge(index) ? () => judge(index) : null}
          />
        ))}
        {columns.length === 0 && models.models !== undefined && <p className={styles.none}>Add a model to ask.</p>}
      </div>
      <Composer
        box={composer}
        text={next}
        columns={columns.length}
        goingOn={asking.goingOn.length}
        canBegin={asking.canBegin}
        onChange={setNext}
        onSend={send}
        tools={
          <>
            {canJudge(null) && (
              <Button onClick={() => judge(null)} disabled={vote.isPending} keys="0">
                No difference
              </Button>
            )}
            {!vote.isHidden && columns.length < mostColumns && (
              <ModelPicker
                models={models}
                label="Add a model"
                look={{ icon: Plus, children: "Add model" }}
                onChoose={(model) => asking.setModels([...columns.map((column) => column.model), model])}
              />
            )}
          </>
        }
      />
    </div>
  )
}

/** A conversation and the models that go on with it, a column each. */
import { getRouteApi } from "@tanstack/react-router"
import { EyeOff, Play, Plus } from "lucide-react"
import { type CSSProperties, useEffect, useRef, useState } from "react"
import type { ChatModels } from "../../../api/chat/playground-models.ts"
import { Button, LinkButton } from "../../../components/controls/button.tsx"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { Note } from "../../../components/states/note.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { useKeys } from "../../../keys/use-keys.ts"
import { blindOrder, isHidden, orderOf, withVerdicts } from "../../../playground/blind.ts"
import { rememberModel } from "../../../playground/first-model.ts"
import {
  canGoOn,
  type Column,
  type Conversation,
  lastAnswer,
  mostColumns,
  smallOf,
  type Turn,
  withAnswer,
  withColumn,
  withModels,
} from "../../../playground/conversation.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { useIsLeaving } from "../../../url/use-is-leaving.ts"
import { AnswerColumn, type ColumnActions } from "./answer-column.tsx"
import { Composer } from "./composer.tsx"
import { ask, changeConversation, conversationNow, setConversation, stop, useIsTooLarge } from "./conversations.ts"
import { linkToConversation } from "./link-to-conversation.ts"
import { ModelPicker } from "./model-picker.tsx"
import { ParameterBar } from "./parameter-bar.tsx"
import { problemOf } from "./problem.ts"
import { PromptTurns } from "./prompt-turns.tsx"
import { useFirstModel } from "./use-first-model.ts"
import { useVote } from "./use-vote.ts"
import styles from "./workbench.module.css"

const route = getRouteApi("/signed-in/$entity/$project/playground/{-$conversation}")

/** Typing changes the address when it rests. */
const restMs = 400

interface WorkbenchProps {
  project: CurrentProject
  id: string
  conversation: Conversation
  models: ChatModels
}

export function Workbench({ project, id, conversation: given, models }: WorkbenchProps) {
  const search = route.useSearch()
  const { conversation: named } = route.useParams()
  const navigate = route.useNavigate()
  const isLeaving = useIsLeaving()
  const [next, setNext] = useState("")
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The timer of the address, which would call whoever has left back to this page.
  useEffect(() => () => clearTimeout(typing.current), [])
  const composer = useRef<HTMLTextAreaElement>(null)
  const isTooLarge = useIsTooLarge(id)
  const vote = useVote(project.id, id)

  const first = useFirstModel(project, models)
  const names = search.m ?? (first === null ? [] : [first])
  const conversation = { ...given, columns: withModels(given.columns, names) }
  const { columns } = conversation
  const isBlind = search.blind === true
  const hidden = isBlind && isHidden(conversation)
  const order = orderOf(columns.length, isBlind ? conversation.blind?.order : undefined)
  const toggleBlind = () => {
    // A user who has seen which answer is whose cannot vote blindly any more.
    if (hidden && conversation.blind !== undefined) {
      setConversation(id, { ...conversation, blind: { ...conversation.blind, isOpen: true } }, true)
    }
    void navigate({ search: (before) => ({ ...before, blind: isBlind ? undefined : true }), replace: true })
  }
  const isRunning = columns.some((column) => lastAnswer(column)?.answer.state === "running")
  const problem = problemOf(conversation, search)
  const goingOn = columns.flatMap((column, index) => (canGoOn(column) ? [index] : []))

  // Before anything is asked the line below is as good a place for the first message as the one above.
  const asked = conversation.prompt.at(-1)
  const canBegin =
    columns.length > 0 &&
    columns.every(({ turns }) => turns.length === 0) &&
    asked?.role === "user" &&
    asked.text.trim() === ""

  const change = (changed: Conversation) => {
    const small = named === undefined ? smallOf(changed) : null
    setConversation(id, changed, small === null)
    clearTimeout(typing.current)
    if (named !== undefined) return
    if (small === null) return void name(changed)
    typing.current = setTimeout(() => {
      if (isLeaving()) return
      // Elsewhere other models may come first: the address says which one was meant.
      const m = names.length === 0 ? undefined : names
      void navigate({ search: (before) => ({ m, ...before, system: small.system, user: small.user }), replace: true })
    }, restMs)
  }
  /** From now on the tab keeps it, and the address says under which name. */
  const name = ({ columns: of }: Conversation, isReplacing = true) =>
    navigate({
      params: (before) => ({ ...before, conversation: id }),
      search: (before) => ({ ...before, system: undefined, user: undefined, m: of.map(({ model }) => model) }),
      replace: isReplacing,
    })
  const run = (changed: Conversation, which: readonly number[]) => {
    clearTimeout(typing.current)
    const blind = isBlind ? { order: blindOrder(columns.length, Math.random), isOpen: false } : undefined
    setConversation(id, { ...changed, ...(blind === undefined ? {} : { blind }) }, true)
    if (named === undefined) void name(changed, false)
    if (columns[0] !== undefined) rememberModel(localStorage, project.id, columns[0].model)
    for (const column of which) void ask({ projectId: project.id, id, column, parameters: search })
  }
  const all = columns.map((_, index) => index)
  const runAll = (prompt = conversation.prompt) => {
    if (problemOf({ ...conversation, prompt }, search) !== null) return
    run({ ...conversation, prompt, columns: columns.map(({ model }) => ({ model, turns: [] })) }, all)
  }
  const send = () => {
    const text = next.trim()
    if (text === "") return
    if (canBegin) {
      const prompt = [...conversation.prompt.slice(0, -1), { ...asked, role: "user", text }]
      if (problemOf({ ...conversation, prompt }, search) !== null) return
      setNext("")
      runAll(prompt)
    }
    if (goingOn.length === 0) return
    const updated = columns.map((column, index) =>
      goingOn.includes(index) ? { ...column, turns: [...column.turns, { role: "user", text }] } : column,
    )
    setNext("")
    run({ ...conversation, columns: updated }, goingOn)
  }
  const setColumns = (changed: (now: Column[]) => Column[]) => {
    // Answers that were stopped just now have their last text by now.
    const now = conversationNow(id) ?? conversation
    const left = changed(withModels(now.columns, names))
    setConversation(id, { ...now, columns: left }, named !== undefined)
    void navigate({ search: (before) => ({ ...before, m: left.map(({ model }) => model) }), replace: true })
  }
  const setModels = (wanted: string[]) => {
    for (const index of all) if (wanted[index] !== names[index]) stop(id, index)
    setColumns((now) => withModels(now, wanted))
  }
  const actionsOf = (index: number): ColumnActions => ({
    setModel: (model) => setModels(names.toSpliced(index, 1, model)),
    remove: () => {
      for (const at of all) if (at >= index) stop(id, at)
      setColumns((now) => now.toSpliced(index, 1))
    },
    stop: () => stop(id, index),
    setTurns: (turns: Turn[]) => change(withColumn(conversation, index, turns)),
    mark: (callId, mark) => changeConversation(id, (now) => withAnswer(now, callId, { mark })),
    goOn: (turns: Turn[]) => {
      setConversation(id, withColumn(conversation, index, turns), true)
      if (named === undefined) void name(conversation, false)
      void ask({ projectId: project.id, id, column: index, parameters: search })
    },
    fork: (turns, begun) => {
      setConversation(id, withColumn(conversation, index, turns), true)
      void ask({ projectId: project.id, id, column: index, parameters: search, begun })
    },
  })
  const judge = (winner: number | null) => {
    const judged = withVerdicts(conversation, winner)
    if (judged === null || vote.isPending) return
    vote.mutate({ conversation: judged, isBlind: hidden })
  }
  const canJudge = columns.length > 1 && withVerdicts(conversation, null) !== null
  const color = search.color ?? "surprise"
  const group = "Playground"
  useKeys([
    {
      keys: "mod+Enter",
      label: "send what is typed, or run all",
      group,
      run: () => (next.trim() === "" ? runAll() : send()),
    },
    { keys: "v", label: "blind vote", group, run: toggleBlind },
    {
      keys: "h",
      label: "next colour",
      group,
      run: () => {
        const after = { surprise: "difference", difference: "off", off: undefined } as const
        void navigate({ search: (before) => ({ ...before, color: after[color] }), replace: true })
      },
    },
    { keys: "i", label: "next message", group, run: () => composer.current?.focus() },
    ...order.map((index, place) => ({
      keys: `${place + 1}`,
      label: `column ${place + 1} is better`,
      group,
      run: () => canJudge && judge(index),
    })),
    { keys: "0", label: "no difference", group, run: () => canJudge && judge(null) },
  ])
  const { params } = project
  return (
    <div className={styles.page}>
      <PageBar
        title="Playground"
        aside={
          search.from !== undefined && (
            <TextLink to="/$entity/$project/r/call/$call" params={{ ...params, call: search.from }}>
              from a recorded call
            </TextLink>
          )
        }
        actions={
          <>
            <span className={styles.wideOnly}>
              {named !== undefined && (
                <LinkButton
                  kind="quiet"
                  icon={Plus}
                  to="/$entity/$project/playground/{-$conversation}"
                  params={{ ...params, conversation: undefined }}
                  search={{ ...search, from: undefined }}
                >
                  New
                </LinkButton>
              )}
              <CopyButton
                text={linkToConversation(project, conversation, search)}
                isWordy
                words="Copy link"
                label="Copy link"
              />
              <Button
                icon={EyeOff}
                isOn={isBlind}
                title="Which model answered is hidden until you have voted (v)"
                disabled={columns.length < 2}
                onClick={toggleBlind}
              >
                Blind vote
              </Button>
            </span>
            {isRunning ? (
              <Button kind="primary" onClick={() => all.forEach((index) => stop(id, index))}>
                Stop all
              </Button>
            ) : (
              <Button
                kind="primary"
                icon={Play}
                keys="mod+Enter"
                disabled={problem !== null || columns.length === 0}
                title={problem ?? undefined}
                onClick={() => runAll()}
              >
                Run{columns.length > 1 ? " all" : ""}
              </Button>
            )}
          </>
        }
      />
      <ParameterBar conversation={conversation} search={search} onConversation={change} />
      <PromptTurns
        prompt={conversation.prompt}
        hasAnswers={columns.some(({ turns }) => turns.length > 0)}
        onChange={(prompt) => change({ ...conversation, prompt })}
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
        {order.map((index, place) => {
          const column = columns[index]
          if (column === undefined) return null
          return (
            <AnswerColumn
              key={index}
              project={project}
              conversation={conversation}
              index={index}
              place={place}
              hiddenAs={hidden ? `Answer ${"ABCDEF"[place] ?? place + 1}` : null}
              color={color}
              first={columns[order[0] ?? 0]}
              models={models}
              actions={actionsOf(index)}
              onBetter={canJudge ? () => judge(index) : null}
            />
          )
        })}
        {columns.length === 0 && models.models !== undefined && <p className={styles.none}>Add a model to ask.</p>}
      </div>
      <Composer
        box={composer}
        text={next}
        columns={columns.length}
        goingOn={goingOn.length}
        canBegin={canBegin}
        onChange={setNext}
        onSend={send}
        tools={
          <>
            {canJudge && (
              <Button onClick={() => judge(null)} disabled={vote.isPending} keys="0">
                No difference
              </Button>
            )}
            {!hidden && columns.length < mostColumns && (
              <ModelPicker
                models={models}
                label="Add a model"
                look={{ icon: Plus, children: "Add model" }}
                onChoose={(model) => setModels([...names, model])}
              />
            )}
          </>
        }
      />
    </div>
  )
}

/** What a user asks of the models, column by column, and where the conversation stands meanwhile: in the address or the tab. */
import { getRouteApi } from "@tanstack/react-router"
import { useEffect, useRef } from "react"
import type { ChatModels } from "../../../api/chat/playground-models.ts"
import { blindOrder } from "../../../playground/blind.ts"
import {
  canGoOn,
  type Column,
  type Conversation,
  lastAnswer,
  smallOf,
  type Turn,
  withAnswer,
  withColumn,
  withModels,
} from "../../../playground/conversation.ts"
import { rememberModel } from "../../../playground/first-model.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { useIsLeaving } from "../../../url/use-is-leaving.ts"
import type { ColumnActions } from "./answer-column.tsx"
import { ask, changeConversation, conversationNow, setConversation, stop } from "./conversations.ts"
import { problemOf, settingsProblem } from "./problem.ts"
import { useFirstModel } from "./use-first-model.ts"

const route = getRouteApi("/signed-in/$entity/$project/playground/{-$conversation}")

/** Typing changes the address when it rests. */
const restMs = 400

export interface Asked {
  project: CurrentProject
  id: string
  conversation: Conversation
  models: ChatModels
}

export interface Asking {
  /** With the columns that the address names. */
  conversation: Conversation
  /** Why nothing can be asked as it stands, in a sentence; null: it can. */
  problem: string | null
  isRunning: boolean
  /** Nothing was asked yet: the line below is as good a place for the first message as the one above. */
  canBegin: boolean
  /** Columns with an answer to go on from. */
  goingOn: readonly number[]
  change: (changed: Conversation) => void
  setModels: (wanted: string[]) => void
  /** Asks all models anew. */
  runAll: (prompt?: Turn[]) => void
  /** Sends a message to all that go on, or as the first one; false: it cannot be sent as it stands. */
  send: (message: string) => boolean
  stopAll: () => void
  actionsOf: (index: number) => ColumnActions
}

export function useAsking({ project, id, conversation: given, models }: Asked): Asking {
  const search = route.useSearch()
  const { conversation: named } = route.useParams()
  const navigate = route.useNavigate()
  const isLeaving = useIsLeaving()
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The timer of the address, which would call whoever has left back to this page.
  useEffect(() => () => clearTimeout(typing.current), [])
  const first = useFirstModel(project, models)
  const names = search.m ?? (first === null ? [] : [first])
  const conversation = { ...given, columns: withModels(given.columns, names) }
  const { columns } = conversation
  const all = columns.map((_, index) => index)
  const goingOn = columns.flatMap((column, index) => (canGoOn(column) ? [index] : []))
  const asked = conversation.prompt.at(-1)
  const isEmpty = asked?.role === "user" && asked.text.trim() === ""
  const canBegin = isEmpty && columns.length > 0 && columns.every(({ turns }) => turns.length === 0)
  const wrong = settingsProblem(conversation, search)
  const hasProblem = (prompt: Turn[]) => problemOf({ ...conversation, prompt }, search) !== null

  /** From now on the tab keeps it, and the address says under which name. */
  const name = ({ columns: of }: Conversation, isReplacing: boolean) =>
    navigate({
      params: (before) => ({ ...before, conversation: id }),
      search: (before) => ({ ...before, system: undefined, user: undefined, m: of.map(({ model }) => model) }),
      replace: isReplacing,
    })
  const change = (changed: Conversation) => {
    const small = named === undefined ? smallOf(changed) : null
    setConversation(id, changed, small === null)
    clearTimeout(typing.current)
    if (named !== undefined) return
    if (small === null) return void name(changed, true)
    typing.current = setTimeout(() => {
      if (isLeaving()) return
      // Elsewhere other models may come first: the address says which one was meant.
      const m = names.length === 0 ? undefined : names
      void navigate({ search: (before) => ({ m, ...before, system: small.system, user: small.user }), replace: true })
    }, restMs)
  }
  const run = (changed: Conversation, which: readonly number[]) => {
    clearTimeout(typing.current)
    const blind = search.blind === true ? { order: blindOrder(columns.length, Math.random), isOpen: false } : undefined
    setConversation(id, { ...changed, ...(blind === undefined ? {} : { blind }) }, true)
    if (named === undefined) void name(changed, false)
    if (columns[0] !== undefined) rememberModel(localStorage, project.id, columns[0].model)
    for (const column of which) void ask({ projectId: project.id, id, column, parameters: search })
  }
  const runAll = (prompt = conversation.prompt) => {
    if (hasProblem(prompt)) return
    run({ ...conversation, prompt, columns: columns.map(({ model }) => ({ model, turns: [] })) }, all)
  }
  const send = (message: string) => {
    const text = message.trim()
    if (text === "") return false
    if (canBegin) {
      const prompt = [...conversation.prompt.slice(0, -1), { ...asked, role: "user", text }]
      if (hasProblem(prompt)) return false
      runAll(prompt)
      return true
    }
    if (goingOn.length === 0) return false
    const updated = columns.map((column, index) =>
      goingOn.includes(index) ? { ...column, turns: [...column.turns, { role: "user", text }] } : column,
    )
    run({ ...conversation, columns: updated }, goingOn)
    return true
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
    setTurns: (turns) => change(withColumn(conversation, index, turns)),
    mark: (callId, mark) => changeConversation(id, (now) => withAnswer(now, callId, { mark })),
    problem: wrong,
    goOn: (turns) => {
      setConversation(id, withColumn(conversation, index, turns), true)
      if (named === undefined) void name(conversation, false)
      void ask({ projectId: project.id, id, column: index, parameters: search })
    },
    fork: (turns, begun) => {
      // Nothing would be asked, and the answer that it begins in would be gone.
      if (wrong !== null) return
      setConversation(id, withColumn(conversation, index, turns), true)
      void ask({ projectId: project.id, id, column: index, parameters: search, begun })
    },
  })
  return {
    conversation,
    problem: problemOf(conversation, search),
    isRunning: columns.some((column) => lastAnswer(column)?.answer.state === "running"),
    canBegin,
    goingOn,
    change,
    setModels,
    runAll,
    send,
    stopAll: () => all.forEach((index) => stop(id, index)),
    actionsOf,
  }
}

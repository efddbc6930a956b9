/** The playground: several models side by side on one conversation. */
import { getRouteApi } from "@tanstack/react-router"
import { useEffect, useMemo, useState } from "react"
import type { Call } from "../../../api/calls/calls.ts"
import { type ChatModels, useChatModels } from "../../../api/chat/playground-models.ts"
import { useWholeCall } from "../../../api/calls/trace-calls.ts"
import { LinkButton } from "../../../components/controls/button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { SkeletonRows } from "../../../components/states/skeleton.tsx"
import { newTextId } from "../../../kept/kept-texts.ts"
import { conversationOf } from "../../../playground/conversation.ts"
import { recordedChat, type RecordedChat } from "../../../playground/recorded-chat.ts"
import { type CurrentProject, useProjectOfPage } from "../../../shell/current-project.ts"
import { setConversation, useConversation } from "./conversations.ts"
import styles from "./playground-page.module.css"
import { answeredConversation, modelsFor } from "./from-call.ts"
import { useFirstModel } from "./use-first-model.ts"
import { Workbench } from "./workbench.tsx"

const route = getRouteApi("/signed-in/$entity/$project/playground/{-$conversation}")

/** The page's work while its address names no conversation. */
interface Draft {
  id: string
  /** The address that it was begun at. */
  named: string | undefined
  projectId: string
}

export function PlaygroundPage() {
  const project = useProjectOfPage()
  const { conversation: named } = route.useParams()
  const { from, system, user } = route.useSearch()
  const models = useChatModels(project)
  const [draft, setDraft] = useState<Draft>(() => ({ id: newTextId(), named, projectId: project.id }))
  if (draft.named !== named || draft.projectId !== project.id) {
    // A user who leaves a conversation for the playground itself begins another one.
    setDraft({ id: named === undefined ? newTextId() : draft.id, named, projectId: project.id })
  }
  const id = named ?? draft.id
  const known = useConversation(id)
  const initial = useMemo(() => conversationOf({ system: system ?? "", user: user ?? "" }), [system, user])
  if (known === null && from !== undefined) return <FromCall key={from} {...{ project, id, callId: from, models }} />
  if (known === null && named !== undefined) return <NotHere project={project} />
  return <Workbench key={id} project={project} id={id} conversation={known ?? initial} models={models} />
}

interface FromCallProps {
  project: CurrentProject
  id: string
  callId: string
  models: ChatModels
}

function FromCall({ project, id, callId, models }: FromCallProps) {
  const query = useWholeCall(project.id, callId, 2_000)
  const call = query.data?.[0]
  const isRead = query.isSuccess && !query.isPlaceholderData
  const chat = useMemo(() => (call === undefined ? null : recordedChat(call.inputs, call.output)), [call])
  const first = useFirstModel(project, models)
  return (
    <>
      {call !== undefined && chat !== null && models.models !== undefined ? (
        <Fill
          project={project}
          id={id}
          call={call}
          chat={chat}
          models={models.models.map(({ name }) => name)}
          first={first}
        />
      ) : (
        <PageBar title="Playground" />
      )}
      {(query.error ?? models.error) !== null && (
        <div className={styles.error}>
          <ErrorNote
            what="The call could not be opened here."
            error={query.error ?? models.error ?? new Error("")}
            onRetry={() => {
              void query.refetch()
              models.refetch()
            }}
          />
        </div>
      )}
      {isRead && chat === null && (
        <Empty
          title={call === undefined ? "There is no such call here" : "This call is no chat"}
          actions={<NewConversation project={project} />}
        >
          {call === undefined
            ? `${project.id} has no call ${callId}. It may have been deleted, or belong to another project.`
            : "The playground goes on from messages, and the inputs of this call hold none."}
        </Empty>
      )}
      {!isRead && query.error === null && <SkeletonRows what="Reading the call" rows={8} />}
    </>
  )
}

/** Address parts of a new conversation, without the one in the address. */
const of = ({ entity, project }: CurrentProject) => ({ entity, project, conversation: undefined })

interface FillProps {
  project: CurrentProject
  id: string
  call: Call
  chat: RecordedChat
  models: readonly string[]
  /** For a call whose model is not here. */
  first: string | null
}

/** The page's address takes the call's model and parameters, and from then on they are the page's own. */
function Fill({ project, id, call, chat, models, first }: FillProps) {
  const navigate = route.useNavigate()
  // The address and the tab's storage.
  useEffect(() => {
    const columns = modelsFor(chat, models, first)
    setConversation(id, answeredConversation(chat, columns, call), true)
    void navigate({
      params: { ...of(project), conversation: id },
      search: (before) => ({ ...chat.parameters, m: columns, ...before, system: undefined, user: undefined }),
      replace: true,
    })
  }, [call, chat, first, id, models, navigate, project])
  return <PageBar title="Playground" />
}

function NewConversation({ project }: { project: CurrentProject }) {
  return (
    <LinkButton kind="primary" to="/$entity/$project/playground/{-$conversation}" params={of(project)} search={{}}>
      New conversation
    </LinkButton>
  )
}

function NotHere({ project }: { project: CurrentProject }) {
  return (
    <>
      <PageBar title="Playground" />
      <Empty title="This conversation is not in this tab" actions={<NewConversation project={project} />}>
        <p>
          A conversation stays in the tab that it was held in, and what was asked is recorded as calls: find it in
          Traces and open it here again. <b>Copy link</b> gives an address that opens everywhere.
        </p>
      </Empty>
    </>
  )
}

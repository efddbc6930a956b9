/** The same request as the code's, sent by this page: the quickest way to see the loop begin. */
import { Play } from "lucide-react"
import { useSendFirstChat } from "../../../api/chat/chat.ts"
import { useCreateProject } from "../../../api/organization/projects.ts"
import { Button } from "../../../components/controls/button.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { Note } from "../../../components/states/note.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./send-from-here.module.css"

export function SendFromHere({ project }: { project: CurrentProject }) {
  const createProject = useCreateProject()
  const chat = useSendFirstChat(project.id)
  const send = () =>
    createProject.mutate({ entity: project.entity, name: project.project }, { onSuccess: () => chat.mutate() })
  const error = createProject.error ?? chat.error
  return (
    <>
      <Button size="small" icon={Play} onClick={send} disabled={createProject.isPending || chat.isPending}>
        {chat.isPending ? "Sending…" : "Send this call from here"}
      </Button>
      {error && (
        <div className={styles.answer}>
          <ErrorNote what="The call was not answered." error={error} />
        </div>
      )}
      {chat.data !== undefined && (
        <div className={styles.answer}>
          <Note kind="good" title="heddle/tiny answered:">
            {chat.data}
          </Note>
        </div>
      )}
    </>
  )
}

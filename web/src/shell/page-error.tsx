/** Shown when a page itself fails, or does not exist: the frame stays. */
import { type ErrorComponentProps, useLocation, useRouter } from "@tanstack/react-router"
import { useEffect } from "react"
import { ApiError } from "../api/api-error.ts"
import { sessionEnded } from "../api/session-state.ts"
import { Button, LinkButton } from "../components/controls/button.tsx"
import { PageBar } from "../components/layout/page-bar.tsx"
import { Empty } from "../components/states/empty.tsx"
import { ErrorNote } from "../components/states/error-note.tsx"
import { CodeMissing } from "./code-missing.tsx"
import { useCurrentProject } from "./current-project.ts"
import { PageCodeError } from "./page-code.ts"
import styles from "./page-error.module.css"

export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const isSignedOut = error instanceof ApiError && error.isSignedOut
  // The question for a key, which stands over whatever page it is.
  useEffect(() => {
    if (isSignedOut) sessionEnded()
  }, [isSignedOut])
  const retry = () => {
    reset()
    void router.invalidate()
  }
  return (
    <>
      <PageBar title={error instanceof PageCodeError ? "Not loaded yet" : "This page failed"} />
      <div className={styles.body}>
        {error instanceof PageCodeError ? (
          <CodeMissing />
        ) : (
          <ErrorNote
            what="The page could not be shown."
            error={error instanceof Error ? error : new Error(String(error))}
            onRetry={retry}
          />
        )}
      </div>
    </>
  )
}

export function NoSuchPage() {
  const router = useRouter()
  const project = useCurrentProject()
  const path = useLocation({ select: ({ pathname }) => pathname })
  return (
    <>
      <PageBar title="No such page" />
      <Empty
        title="There is nothing at this address"
        actions={
          <>
            <Button onClick={() => router.history.back()}>Go back</Button>
            {project !== null && (
              <LinkButton to="/$entity/$project" params={project.params}>
                Overview of {project.project}
              </LinkButton>
            )}
            <LinkButton to="/">Your projects</LinkButton>
          </>
        }
      >
        <p>
          <code>{path}</code> is no page of Heddle, or what it names is not there any more.
        </p>
      </Empty>
    </>
  )
}

/** The first page of a project: its overview, or, while nothing has happened in it, how the first thing gets there. */
import { lazy, Suspense, useState } from "react"
import { useSession } from "../../api/session.ts"
import { PageBar } from "../../components/layout/page-bar.tsx"
import { ErrorNote } from "../../components/states/error-note.tsx"
import { SkeletonRows } from "../../components/states/skeleton.tsx"
import { type CurrentProject, useProjectOfPage } from "../../shell/current-project.ts"
import styles from "./project-home.module.css"
import { isQuiet, usePulse } from "./use-pulse.ts"

const FirstRunPage = lazy(() =>
  import("./first-run/first-run-page.tsx").then(({ FirstRunPage: loaded }) => ({ default: loaded })),
)
const OverviewPage = lazy(() =>
  import("./overview/overview-page.tsx").then(({ OverviewPage: loaded }) => ({ default: loaded })),
)
const NoProject = lazy(() => import("./no-project.tsx").then(({ NoProject: loaded }) => ({ default: loaded })))

/** While it waits for the first call. */
const waitingMs = 1500

export function ProjectHome() {
  const project = useProjectOfPage()
  // Another project is another page: nothing of the first stays.
  return <Home key={project.id} project={project} />
}

type Face = "first-run" | "overview"

function Home({ project }: { project: CurrentProject }) {
  const { user } = useSession()
  const [face, setFace] = useState<Face | null>(null)
  const { pulse, exists, error, retry } = usePulse(project, face === "first-run" ? waitingMs : false)
  // The page is chosen once: when the first call comes, the first run changes, and is not taken away from its reader.
  if (face === null && pulse !== undefined) setFace(isQuiet(pulse) ? "first-run" : "overview")
  // A project that is not there yet is made by its first call, which only its own team can send.
  if (exists === false && !user.entities.includes(project.entity)) {
    return (
      <>
        <PageBar title="Overview" />
        <Suspense>
          <NoProject project={project} />
        </Suspense>
      </>
    )
  }
  if (face === "first-run" && pulse !== undefined) {
    return (
      <Suspense>
        <FirstRunPage project={project} pulse={pulse} error={error} onOverview={() => setFace("overview")} />
      </Suspense>
    )
  }
  if (face === "overview") {
    return (
      <Suspense>
        <OverviewPage project={project} />
      </Suspense>
    )
  }
  return (
    <>
      <PageBar title="Overview" />
      {error ? (
        <div className={styles.error}>
          <ErrorNote what="The project could not be read." error={error} onRetry={retry} />
        </div>
      ) : (
        <SkeletonRows what="Reading the project" />
      )}
    </>
  )
}

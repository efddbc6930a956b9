/** A project in which nothing has happened: how the first call gets here, and whether it did. */
import { getRouteApi } from "@tanstack/react-router"
import { useState } from "react"
import { type CreatedApiKey, useCreateApiKey } from "../../../api/organization/api-keys.ts"
import { useCreateProject } from "../../../api/organization/projects.ts"
import { useServerInfo } from "../../../api/server.ts"
import { useSession } from "../../../api/session.ts"
import { serverUrl } from "../../../base-path.ts"
import { Button } from "../../../components/controls/button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { Tabs } from "../../../components/layout/tabs.tsx"
import { Code } from "../../../components/text/code.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { isQuiet, type Pulse } from "../use-pulse.ts"
import { FirstKey, shownKey } from "./first-key.tsx"
import styles from "./first-run-page.module.css"
import { LiveState } from "./live-state.tsx"
import { LoopSteps } from "./loop-steps.tsx"
import { OtherWays } from "./other-ways.tsx"
import { SendFromHere } from "./send-from-here.tsx"
import { clients, snippetOf } from "./snippets.ts"

const route = getRouteApi("/signed-in/$entity/$project/")

interface FirstRunPageProps {
  project: CurrentProject
  pulse: Pulse
  /** Error of the last reading, while earlier data is still shown. */
  error: Error | null
  onOverview: () => void
}

const noKey = "YOUR_API_KEY"

export function FirstRunPage({ project, pulse, error, onOverview }: FirstRunPageProps) {
  const { client = "openai" } = route.useSearch()
  const navigate = route.useNavigate()
  const { user } = useSession()
  const info = useServerInfo()
  const [isKeyShown, setKeyShown] = useState(false)
  const createProject = useCreateProject()
  const createKey = useCreateApiKey()
  const key: CreatedApiKey | undefined = createKey.data
  const hasCome = !isQuiet(pulse)

  // The project first: a client may name it in a header only when it is there.
  const makeKey = () =>
    createProject.mutate(
      { entity: project.entity, name: project.project },
      { onSuccess: () => createKey.mutate({ name: `${project.id}, first run` }) },
    )
  const values = { server: serverUrl, ...project, defaultEntity: user.default_entity }
  const shown = key === undefined ? noKey : isKeyShown ? key.value : shownKey(key.value)
  const snippet = snippetOf(client, { ...values, key: shown })

  return (
    <>
      <PageBar
        title="Overview"
        actions={
          hasCome ? (
            <Button kind="primary" onClick={onOverview}>
              Open the overview
            </Button>
          ) : (
            <span className={styles.server}>
              Heddle {info.data?.trace_server_version} on {new URL(serverUrl).host}, nothing leaves this machine
            </span>
          )
        }
      />
      <div className={styles.columns}>
        <section className={styles.words} aria-label="First call">
          <h2 className={styles.headline}>{hasCome ? "The first call is stored" : "Send the first call"}</h2>
          <p className={styles.lead}>
            {hasCome ? (
              <>
                It can be read, searched, labelled and trained on from now on. Your next calls arrive the same way; this
                page gives way to the overview when you leave it.
              </>
            ) : (
              <>
                Calls, models, evaluations and labels of <b>{project.id}</b> appear here. Point a client that you
                already use at this server; only its address and key change.
              </>
            )}
          </p>
          <Tabs
            label="Client"
            tabs={clients.map((id) => ({ id, label: snippetOf(id, { ...values, key: "" }).label }))}
            open={client}
            onOpen={(id) => void navigate({ search: { client: id === "openai" ? undefined : id }, replace: true })}
          >
            <div className={styles.code}>
              <Code
                label={`Code for ${snippet.label}`}
                code={snippet.code}
                copied={snippetOf(client, { ...values, key: key?.value ?? noKey }).code}
              />
            </div>
            <div className={styles.note}>
              <span>{snippet.note}</span>
              <SendFromHere project={project} />
            </div>
          </Tabs>
          <FirstKey
            created={key}
            isShown={isKeyShown}
            onShow={setKeyShown}
            onMake={makeKey}
            isPending={createProject.isPending || createKey.isPending}
            error={createProject.error ?? createKey.error}
          />
          <OtherWays project={project} hasCome={hasCome} pulse={pulse} />
          <LoopSteps pulse={pulse} />
        </section>
        <LiveState project={project} pulse={pulse} hasCome={hasCome} error={error} />
      </div>
    </>
  )
}

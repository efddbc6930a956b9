/** Title of the playground, and what can be done with the conversation as a whole. */
import { getRouteApi } from "@tanstack/react-router"
import { Copy, EyeOff, Play, Plus } from "lucide-react"
import { Button, LinkButton } from "../../../components/controls/button.tsx"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { linkToConversation } from "./link-to-conversation.ts"
import type { Asking } from "./use-asking.ts"
import type { Vote } from "./use-vote.ts"
import styles from "./workbench-bar.module.css"

const route = getRouteApi("/signed-in/$entity/$project/playground/{-$conversation}")

interface WorkbenchBarProps {
  project: CurrentProject
  asking: Asking
  vote: Vote
}

export function WorkbenchBar({ project, asking, vote }: WorkbenchBarProps) {
  const search = route.useSearch()
  const { conversation: named } = route.useParams()
  const { params } = project
  const { columns } = asking.conversation
  const link = linkToConversation(project, asking.conversation, search)
  return (
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
            {link === null ? (
              <Button
                size="small"
                icon={Copy}
                disabled
                title="It is more than an address holds, and has no recorded answer that a link could name"
              >
                Copy link
              </Button>
            ) : (
              <CopyButton text={link} isWordy words="Copy link" label="Copy link" />
            )}
            <Button
              icon={EyeOff}
              isOn={vote.isBlind}
              title="Which model answered is hidden until you have voted (v)"
              disabled={columns.length < 2}
              onClick={vote.toggleBlind}
            >
              Blind vote
            </Button>
          </span>
          {asking.isRunning ? (
            <Button kind="primary" onClick={asking.stopAll}>
              Stop all
            </Button>
          ) : (
            <Button
              kind="primary"
              icon={Play}
              keys="mod+Enter"
              disabled={asking.problem !== null || columns.length === 0}
              title={asking.problem ?? undefined}
              onClick={() => asking.runAll()}
            >
              Run{columns.length > 1 ? " all" : ""}
            </Button>
          )}
        </>
      }
    />
  )
}

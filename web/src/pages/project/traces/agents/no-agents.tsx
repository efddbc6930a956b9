/** A project to which no agent has sent anything: the lines that send the first turn. */
import { serverUrl } from "../../../../base-path.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Code } from "../../../../components/text/code.tsx"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { projectHeader, projectPath } from "../../../../url/project-path.ts"
import styles from "./no-agents.module.css"

interface NoAgentsProps {
  project: CurrentProject
  lens: "conversations" | "agents"
  isLive: boolean
  onLive: () => void
}

export function NoAgents({ project, lens, isLive, onLive }: NoAgentsProps) {
  const weave = `# WANDB_BASE_URL=${serverUrl} WANDB_API_KEY=<your key>
import weave
from weave.conversation import Message, Usage, start_conversation

weave.init(${JSON.stringify(project.id)})
with start_conversation(agent_name="helper", conversation_id="c-1") as talk:
    with talk.start_turn(user_message="Where is my order?") as turn:
        with turn.start_llm(model="gpt-4o-mini") as call:
            answer = Message(role="assistant", content="It was shipped.")
            call.record(output_messages=[answer], usage=Usage(input_tokens=120, output_tokens=6))
weave.finish()`
  const exporter = `export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${serverUrl}/agents/otel/v1/traces
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20<your key>,project_id=${projectPath(projectHeader(project.id))}"`
  return (
    <div className={styles.none}>
      <Empty
        title={`No ${lens} yet`}
        {...(isLive ? { waitingFor: "the first turn" } : {})}
        {...(isLive ? {} : { actions: <Button onClick={onLive}>Wait for the first here</Button> })}
      >
        They come from the conversation classes of Weave, or from any framework whose agents export OpenTelemetry.
      </Empty>
      <div className={styles.ways}>
        <h3>Weave, from Python</h3>
        <Code label="Code for Weave" code={weave} />
        <h3>OpenTelemetry</h3>
        <Code label="Settings for OpenTelemetry" code={exporter} />
      </div>
    </div>
  )
}

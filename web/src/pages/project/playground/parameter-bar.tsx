/** How the models are asked: parameters, tools and the schema of answers; and what the colours of answers say. */
import { getRouteApi } from "@tanstack/react-router"
import { Braces, Wrench } from "lucide-react"
import { useState } from "react"
import { Button } from "../../../components/controls/button.tsx"
import { Segmented } from "../../../components/controls/segmented.tsx"
import { useDraft } from "../../../components/controls/use-draft.ts"
import { rampColors } from "../../../components/signs/heat.tsx"
import { parameterProblem, schemaProblem, toolNames, toolsProblem } from "../../../playground/completion-body.ts"
import type { Conversation } from "../../../playground/conversation.ts"
import { JsonDialog } from "./json-dialog.tsx"
import type { PlaygroundSearch } from "./playground-search.ts"
import { numberParameters } from "./problem.ts"
import { counted } from "../../../format/counted.ts"
import styles from "./parameter-bar.module.css"

const route = getRouteApi("/signed-in/$entity/$project/playground/{-$conversation}")

const labels = { temperature: "temperature", top_p: "top p", max_tokens: "max tokens", seed: "seed" }
/** Values that apply to empty fields. */
const defaults = { temperature: "1", top_p: "1", max_tokens: "all", seed: "none" }

const exampleTools = `[
  {
    "type": "function",
    "function": {
      "name": "look_up_order",
      "description": "What was ordered, and when",
      "parameters": {
        "type": "object",
        "properties": { "order": { "type": "string" } },
        "required": ["order"]
      }
    }
  }
]`

const exampleSchema = `{
  "type": "object",
  "properties": {
    "answer": { "type": "string" },
    "is_sure": { "type": "boolean" }
  },
  "required": ["answer", "is_sure"]
}`

interface ParameterBarProps {
  conversation: Conversation
  search: PlaygroundSearch
  onConversation: (conversation: Conversation) => void
}

export function ParameterBar({ conversation, search, onConversation }: ParameterBarProps) {
  const navigate = route.useNavigate()
  const [edited, setEdited] = useState<"tools" | "schema" | null>(null)
  const change = (next: Partial<PlaygroundSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true })
  const { tools, schema } = conversation
  const count = toolNames(tools).length
  return (
    <div className={styles.bar} role="group" aria-label="Parameters">
      {numberParameters.map((name) => (
        <ParameterField
          key={name}
          name={name}
          value={search[name] ?? ""}
          onChange={(value) => change({ [name]: value === "" ? undefined : value })}
        />
      ))}
      <StopField stop={search.stop ?? []} onChange={(stop) => change({ stop })} />
      <Button
        size="small"
        icon={Wrench}
        title={toolsProblem(tools) ?? toolNames(tools).join(", ")}
        onClick={() => setEdited("tools")}
      >
        {count === 0 ? "Tools" : counted(count, "tool")}
      </Button>
      <Button size="small" icon={Braces} isOn={schema.trim() !== ""} onClick={() => setEdited("schema")}>
        Schema
      </Button>
      <span className={styles.colors}>
        <Segmented
          size="small"
          label="Colour of answers"
          value={search.color ?? "surprise"}
          segments={[
            { value: "surprise", label: "Surprise" },
            { value: "difference", label: "Difference to 1" },
            { value: "off", label: "Off" },
          ]}
          onChange={(color) => change({ color: color === "surprise" ? undefined : color })}
        />
        {(search.color ?? "surprise") === "surprise" && (
          <span className={styles.legend}>
            p = 1
            <span className={styles.ramp} aria-hidden>
              {[0, 0.6, 1.2, 1.8, 2.4, 3.1, 3.7].map((value) => (
                <i key={value} style={{ background: rampColors("surprise", value).ground }} />
              ))}
            </span>
            p ≤ 0.025
          </span>
        )}
      </span>
      {edited === "tools" && (
        <JsonDialog
          title="Tools"
          hint="Functions that the models may call, as a chat has them. What they are called with is shown, and you write the result."
          text={tools}
          example={exampleTools}
          problemOf={toolsProblem}
          onSave={(text) => onConversation({ ...conversation, tools: text })}
          onClose={() => setEdited(null)}
        />
      )}
      {edited === "schema" && (
        <JsonDialog
          title="Schema of answers"
          hint="A JSON schema that every answer is held to, token by token. Empty: answers are free."
          text={schema}
          example={exampleSchema}
          problemOf={schemaProblem}
          onSave={(text) => onConversation({ ...conversation, schema: text })}
          onClose={() => setEdited(null)}
        />
      )}
    </div>
  )
}

interface ParameterFieldProps {
  name: (typeof numberParameters)[number]
  value: string
  onChange: (value: string) => void
}

/** Goes into the address when it is left, or by Enter. */
function ParameterField({ name, value, onChange }: ParameterFieldProps) {
  const [text, setText] = useDraft(value)
  const problem = parameterProblem(name, text.trim())
  return (
    <label className={styles.field}>
      {labels[name]}
      <input
        className={styles.input}
        value={text}
        placeholder={defaults[name]}
        inputMode={name === "seed" || name === "max_tokens" ? "numeric" : "decimal"}
        aria-invalid={problem === null ? undefined : true}
        title={problem ?? undefined}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => text.trim() !== value && onChange(text.trim())}
        onKeyDown={(event) => event.key === "Enter" && text.trim() !== value && onChange(text.trim())}
      />
      {problem !== null && (
        <span className={styles.problem} role="alert">
          {problem}
        </span>
      )}
    </label>
  )
}

/** With its spaces: a text such as <|im_end|> is one, and its own spaces count. */
const between = " | "

function StopField({ stop, onChange }: { stop: readonly string[]; onChange: (stop: string[] | undefined) => void }) {
  const shown = stop.map((one) => one.replaceAll("\n", "\\n")).join(between)
  const [text, setText] = useDraft(shown)
  const save = () => {
    if (text === shown) return
    const list = text
      .split(between)
      .map((one) => one.replaceAll("\\n", "\n"))
      .filter((one) => one !== "")
    onChange(list.length === 0 ? undefined : list)
  }
  return (
    <label className={styles.field}>
      stop
      <input
        className={styles.wider}
        value={text}
        placeholder="none"
        title={`Texts that end an answer, with “${between}” between them; \\n is a new line`}
        onChange={(event) => setText(event.target.value)}
        onBlur={save}
        onKeyDown={(event) => event.key === "Enter" && save()}
      />
    </label>
  )
}

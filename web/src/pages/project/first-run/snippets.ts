/** The first lines of each client, filled with this server's address, the project and a key. */
import { projectHeader, projectPath, shellWord } from "../../../url/project-path.ts"

export type Client = "openai" | "art" | "wandb" | "weave" | "otel" | "curl"

export interface SnippetValues {
  /** As clients name it, without a slash at its end. */
  server: string
  entity: string
  project: string
  /** The entity that a client means which names none. */
  defaultEntity: string
  key: string
}

export interface Snippet {
  label: string
  code: string
  /** Which versions work, and what has to be known before. */
  note: string
}

/** In the order of the tabs. */
export const clients: readonly Client[] = ["openai", "art", "wandb", "weave", "otel", "curl"]

export function snippetOf(client: Client, values: SnippetValues): Snippet {
  return snippets[client](values)
}

/** A text as Python writes it. */
const text = (value: string) => JSON.stringify(value)

const snippets: Record<Client, (values: SnippetValues) => Snippet> = {
  openai: ({ server, entity, project, key }) => ({
    label: "OpenAI",
    code: `from openai import OpenAI

client = OpenAI(
    base_url="${server}/v1",
    api_key="${key}",
    default_headers={"OpenAI-Project": ${text(projectHeader(`${entity}/${project}`))}},
)
client.chat.completions.create(
    model="heddle/tiny",          # ships with the server, answers at once
    messages=[{"role": "user", "content": "4+5="}],
)`,
    note: "Python, openai 2.33 to 3.54. In Node the names are baseURL, apiKey and defaultHeaders.",
  }),
  art: ({ server, entity, project, defaultEntity, key }) => ({
    label: "ART",
    code: `import art
from art.serverless.backend import ServerlessBackend

backend = ServerlessBackend(api_key="${key}", base_url="${server}/v1")
model = art.TrainableModel(
    name="agent-001", project=${text(project)}, base_model="heddle/tiny",${entity === defaultEntity ? "" : `\n    entity="${entity}",`}
)
await model.register(backend)

# rollouts, then one training job; the next step is served at once
client = model.openai_client()
await client.chat.completions.create(model=model.get_inference_name(), messages=[…])
await backend.train(model, trajectory_groups)`,
    note: "pip install openpipe-art==0.5.18 openai==2.54.0: a newer openai breaks rollouts in ART.",
  }),
  wandb: ({ server, entity, project, key }) => ({
    label: "W&B runs",
    code: `import wandb

wandb.login(key="${key}", host="${server}")
run = wandb.init(entity="${entity}", project=${text(project)}, config={"lr": 0.001})
for step in range(100):
    run.log({"loss": 1 / (step + 1)})
run.finish()`,
    note: "Python, wandb 0.25.0 and 0.31.0. Curves, configs, tables, pictures, files and artifacts are kept.",
  }),
  weave: ({ server, entity, project, key }) => ({
    label: "Weave",
    code: `import os
os.environ["WANDB_BASE_URL"] = "${server}"
os.environ["WANDB_API_KEY"] = "${key}"

import weave
weave.init(${text(`${entity}/${project}`)})

@weave.op
def answer(question: str) -> str:
    return "42"

answer("How many?")`,
    note: "Python, weave 0.52.22 and 0.54.0; for Node weave 0.11.1.",
  }),
  otel: ({ server, entity, project, key }) => ({
    label: "OpenTelemetry",
    code: `export OTEL_EXPORTER_OTLP_ENDPOINT=${server}
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20${key},project_id=${projectPath(projectHeader(`${entity}/${project}`))}"

# then start your program as always; every span becomes a call`,
    note: "Any exporter of any language. The attributes of GenAI, OpenInference, OpenLLMetry and Vercel are understood.",
  }),
  curl: ({ server, entity, project, key }) => ({
    label: "curl",
    code: `curl ${server}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H ${shellWord(`OpenAI-Project: ${projectHeader(`${entity}/${project}`)}`)} \\
  -H "Content-Type: application/json" \\
  -d '{"model": "heddle/tiny", "messages": [{"role": "user", "content": "4+5="}]}'`,
    note: "No client is needed.",
  }),
}

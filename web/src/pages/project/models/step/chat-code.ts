/** The lines with which a program talks to one checkpoint. */
import { projectHeader } from "../../../../url/project-path.ts"

interface ChatWith {
  /** As clients name the server, without a slash at its end. */
  server: string
  /** `entity/project` */
  project: string
  /** The name of the checkpoint for chat. */
  artifact: string
}

export function chatCode({ server, project, artifact }: ChatWith): string {
  return `from openai import OpenAI

client = OpenAI(
    base_url="${server}/v1",
    api_key=KEY,
    default_headers={"OpenAI-Project": ${JSON.stringify(projectHeader(project))}},
)
answer = client.chat.completions.create(
    model=${JSON.stringify(artifact)},
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`
}

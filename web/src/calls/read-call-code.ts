/** Code that reads a call from outside of the page; the key stands in a variable of the environment. */
import { shellWord } from "../url/project-path.ts"

interface CallPlace {
  /** As clients name it, without a slash at its end. */
  server: string
  /** `entity/project` */
  projectId: string
  callId: string
}

export function curlOfCall({ server, projectId, callId }: CallPlace): string {
  const body = JSON.stringify({ project_id: projectId, id: callId })
  return `curl ${server}/call/read \\
  -H "Authorization: Bearer $WANDB_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d ${shellWord(body)}`
}

/** With the Weave SDK, which finds the key in WANDB_API_KEY by itself. */
export function pythonOfCall({ server, projectId, callId }: CallPlace): string {
  return `import os
os.environ["WANDB_BASE_URL"] = ${JSON.stringify(server)}

import weave
client = weave.init(${JSON.stringify(projectId)})
call = client.get_call(${JSON.stringify(callId)})
print(call.inputs, call.output)`
}

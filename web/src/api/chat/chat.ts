/** Chat on a model: `/v1/chat/completions`. */
import { useMutation } from "@tanstack/react-query"
import type { ApiError } from "../api-error.ts"
import { projectHeader } from "../../url/project-path.ts"
import { send } from "../client.ts"

interface ChatAnswer {
  choices: { message: { content: string | null } }[]
}

/** One question to the shipped model, counted to the project; the answer's text. */
export function useSendFirstChat(projectId: string) {
  return useMutation<string, ApiError>({
    mutationFn: async () => {
      const response = await send({
        method: "POST",
        path: "/v1/chat/completions",
        headers: { "openai-project": projectHeader(projectId) },
        body: { model: "heddle/tiny", messages: [{ role: "user", content: "4+5=" }] },
      })
      const answer = (await response.json()) as ChatAnswer
      return answer.choices[0]?.message.content ?? ""
    },
  })
}

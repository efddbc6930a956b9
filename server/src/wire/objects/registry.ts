/** `/link_to_registry`: what the SDK's `link_prompt_to_registry` sends and reads. */
import { z } from "zod"
import { textList } from "../bounded-list.ts"
import { orDefault } from "../or-default.ts"

export const registryLinkBody = z.object({
  /** Ref of an object version. */
  ref: z.string(),
  target: z.object({ portfolio_name: z.string(), entity_name: z.string(), project_name: z.string() }),
  aliases: orDefault(textList, []),
})

export const registryLinked = z.object({ version_index: z.int() })

/** Handling shared by all OTLP export routes: evaluation-store-calls 8. */
import type { Principal } from "../../http/principal.ts"
import { headerText } from "../../http/requests/header-text.ts"
import type { RouteContext } from "../../http/route.ts"
import type { CallDependencies } from "../dependencies.ts"
import { type RejectedName, sendOutcome } from "./otlp/otlp-answer.ts"
import { encodingOf } from "./otlp/otlp-encoding.ts"
import type { OtlpInput, Outcome } from "./otlp/otlp-input.ts"

type Handled = Pick<RouteContext, "principal" | "request" | "reply" | "held"> & { body: Buffer }

export interface Export extends Pick<RouteContext, "held"> {
  principal: Principal
  input: OtlpInput
  options: { bytes: number }
}

export function exportHandler(
  { limits }: Pick<CallDependencies, "limits">,
  rejectedName: RejectedName,
  store: (sent: Export) => Promise<Outcome>,
): (context: Handled) => Promise<void> {
  return async ({ body, principal, request: { headers }, reply, held }) => {
    const contentType = headers["content-type"]
    const encoding = encodingOf(contentType, body)
    const header = headers["project_id"]
    const input: OtlpInput = {
      bytes: body,
      contentType,
      naming: {
        header: typeof header === "string" ? headerText(header) : null,
        defaultEntity: principal.defaultEntity.name,
        userId: principal.userId,
      },
      limits: {
        items: limits.otlp_items,
        attributes: limits.span_attributes,
        storedBytes: limits.otlp_stored_bytes,
      },
    }
    const outcome = await store({ principal, input, options: { bytes: body.length }, held })
    await sendOutcome(reply, encoding, outcome, rejectedName)
  }
}

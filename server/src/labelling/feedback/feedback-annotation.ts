/** Whether the values of annotations are what their spec asks for: evaluation-store-objects 2.3. */
import { HeddleError } from "../../errors.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { findValueFault } from "../../objects/schemas/user-schemas.ts"

export interface AnnotationSpec {
  ref: string
  /** The JSON of the object that the ref names. */
  text: string
}

/** `values`: JSON texts. @throws {HeddleError} `invalid_request`. */
export async function checkAnnotationValues(
  dependencies: Pick<StoreDependencies, "threads" | "limits">,
  { ref, text }: AnnotationSpec,
  values: readonly string[],
): Promise<void> {
  const schema = { schema: schemaOf(ref, text), name: `the schema of ${ref}` }
  const fault = await findValueFault(dependencies, schema, values)
  if (fault === null) return
  throw new HeddleError(
    "invalid_request",
    `Feedback payload does not match annotation spec ${ref}: the value ${fault.message}`,
  )
}

function schemaOf(ref: string, text: string): string {
  const spec = JSON.parse(text) as { _class_name?: unknown; field_schema?: unknown } | null
  if (spec?._class_name !== "AnnotationSpec") {
    throw new HeddleError("invalid_request", `annotation_ref "${ref}" does not name an AnnotationSpec`)
  }
  return JSON.stringify(spec.field_schema ?? {})
}

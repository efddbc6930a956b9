/** Input and result of tasks on OTLP export requests. */

export interface ResourceNaming {
  /** The `project_id` header, used by resources that name no project. */
  header: string | null
  /** Default entity of the caller. */
  defaultEntity: string
  userId: string
}

/** A project and the user who writes to it. */
export interface SpanOwner {
  /** Id in the catalog. */
  id: string
  /** `entity/project`. */
  name: string
  userId: string
}

export interface OtlpLimits {
  items: number
  /** Limit per span, event or link. */
  attributes: number
  /** Limit on the stored bytes of one request. */
  storedBytes: number
}

export interface OtlpInput {
  bytes: Buffer
  contentType: string | undefined
  naming: ResourceNaming
  limits: OtlpLimits
}

/** Outcome of a request that was stored at least in part. */
export interface Outcome {
  rejected: number
  /** Reasons for rejection, each once; `""` if nothing was rejected. */
  message: string
}

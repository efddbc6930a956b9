/** What tasks on OTLP export requests get and give. */

export interface ResourceNaming {
  /** Of the request's header `project_id`, for resources that name no project. */
  header: string | null
  /** Of the caller. */
  defaultEntity: string
  userId: string
}

/** Of a project, and who writes to it. */
export interface SpanOwner {
  /** Of the catalog. */
  id: string
  /** `entity/project`. */
  name: string
  userId: string
}

export interface OtlpLimits {
  items: number
  /** Of one span, event or link. */
  attributes: number
  /** Of what is stored of one request. */
  storedBytes: number
}

export interface OtlpInput {
  bytes: Buffer
  contentType: string | undefined
  naming: ResourceNaming
  limits: OtlpLimits
}

/** What became of a request of which something was stored. */
export interface Outcome {
  rejected: number
  /** What was wrong, each thing once; `""` when nothing was rejected. */
  message: string
}

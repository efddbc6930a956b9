/** Row type of the limits on how long calls are kept. */

/** A project that has no row keeps its calls until they are deleted. */
export interface CallRetentionTable {
  project_id: string
  retention_days: number
  /** The run of the server that removes what is past the limit; null: none does. */
  lease_owner: string | null
  lease_expires_at: Date | null
  /** When a run last went through the whole project. */
  worked_at: Date | null
}

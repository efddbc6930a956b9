/** Apart from `api-error.ts`, which the first screen loads. */
import { ApiError } from "./api-error.ts"

/** Whether the server has something else there already than what the request expects. */
export function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 409 && error.code === "conflict"
}

/** A reason why a job cannot succeed, worded for the `training_failed` event. */
export class JobFailure extends Error {
  override readonly name = "JobFailure"
}

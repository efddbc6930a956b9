/** Why a step cannot run, in words for the operator. To try it again at once would not help. */
export class CannotMigrate extends Error {
  override readonly name = "CannotMigrate"
}

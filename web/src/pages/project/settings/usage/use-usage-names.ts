/** Names for what the ledger lists by id. */
import { useApiKeys } from "../../../../api/organization/api-keys.ts"
import { useUsers } from "../../../../api/organization/organization.ts"
import { useSession } from "../../../../api/session.ts"
import { shortId } from "../../../../format/ids.ts"
import type { UsageField } from "./usage-rows.ts"

/** Shortens `wandb-artifact:///entity/project/model:step2` to `model:step2`, the name within the project. */
const modelName = (value: string) => value.replace(/^wandb-artifact:\/\/\/[^/]+\/[^/]+\//, "")

/** Names of users are known to administrators; of keys those that live and may be seen. */
export function useUsageNames(field: UsageField): (value: string) => string {
  const { user } = useSession()
  const users = useUsers({ enabled: user.is_admin && field === "user_id" })
  const keys = useApiKeys()
  return (value) => {
    if (field === "user_id") {
      const known = users.data?.data ?? [user]
      return known.find(({ id }) => id === value)?.username ?? `user ${shortId(value)}`
    }
    if (field === "api_key_id") {
      const key = keys.data?.data.find(({ id }) => id === value)
      return key === undefined ? `another key, ${shortId(value)}` : `${key.name} of ${key.username}`
    }
    return field === "model" ? modelName(value) : value
  }
}

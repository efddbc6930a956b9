/** Costs of the usage of calls, at the prices of their time. */
import type { CallDependencies } from "../../calls/dependencies.ts"
import { openPriceBook, totalCosts } from "../../calls/costs/prices.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import type { TokenUsage } from "../../calls/usage/token-usage.ts"

type UsageOfModels = ReadonlyMap<string, TokenUsage>

/** Reads the prices of all models that the usages name. The cost is null when none of them has a price. */
export async function openUsageCosts(
  dependencies: CallDependencies,
  project: ProjectAccess,
  usages: readonly UsageOfModels[],
): Promise<(usage: UsageOfModels, startedAt: string) => number | null> {
  const prices = await openPriceBook(
    dependencies,
    project,
    usages.flatMap((usage) => [...usage.keys()]),
  )
  return (usage, startedAt) => {
    let cost: number | null = null
    for (const [model, counts] of usage) {
      const price = prices.find(model, startedAt)
      if (price === null) continue
      cost = Object.values(totalCosts(counts, price)).reduce((total, one) => total + one, cost ?? 0)
    }
    return cost
  }
}

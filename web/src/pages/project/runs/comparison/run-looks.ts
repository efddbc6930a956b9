/** What tells the lines of compared runs apart. */
import type { OneRun } from "../../../../api/runs/runs.ts"
import type { ColorToken } from "../../../../components/charts/chart-colors.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import type { DrawnRun } from "../curves/run-curves.tsx"

/** More lines could not be told apart. */
export const mostRuns = 10

const colors: readonly ColorToken[] = ["series-1", "series-2", "series-3", "series-4", "series-5", "series-6"]

export interface ComparedRun extends DrawnRun {
  run: OneRun
}

/** A colour each; with more runs than colours the colours come again, dashed. */
export function comparedRuns({ params }: CurrentProject, runs: readonly OneRun[]): ComparedRun[] {
  const titles = runs.map(({ displayName, name }) => displayName || name)
  return runs.map((run, index) => {
    const title = titles[index] ?? run.name
    const isTwice = titles.indexOf(title) !== titles.lastIndexOf(title)
    return {
      run,
      of: { ...params, run: run.name },
      heardAt: run.heartbeatAt,
      name: isTwice ? `${title} (${run.name})` : title,
      color: colors[index % colors.length] ?? "series-0",
      isDashed: index >= colors.length,
    }
  })
}

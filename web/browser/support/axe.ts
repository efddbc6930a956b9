/** What axe finds in a page. */
import axe from "axe-core"
import type { Page } from "playwright-core"

interface Violation {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

/** The palette's list scrolls with the arrow keys, while the focus stays in its search field. */
const scrollsWithTheField = ({ id, html }: { id: string; html: string }) =>
  id === "scrollable-region-focusable" && html.includes('role="menu"')

/** Colours of what is still fading in are none that somebody reads by. Signs that move for good are not waited for. */
const movementsEnd = `Promise.all(
  document
    .getAnimations()
    .filter((one) => one.effect?.getComputedTiming().iterations !== Infinity)
    .map((one) => one.finished.catch(() => {})),
).then(() => {})`

/** What axe finds that is serious or worse, in a line each. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(movementsEnd)
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] })`,
  )
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes
        .filter(({ html }) => !scrollsWithTheField({ id, html }))
        .map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
    )
}

/** Checks a page with axe. */
import axe from "axe-core"
import type { Page } from "playwright-core"

interface Violation {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

/**
 * True for one finding that is no fault: the palette's list scrolls with the arrow keys while its search field has the
 * focus.
 */
const scrollsWithTheField = ({ id, html }: { id: string; html: string }) =>
  id === "scrollable-region-focusable" && html.includes('role="menu"')

/** Waits for animations that end, because axe would judge the colours of a text that is still fading in. */
const movementsEnd = `Promise.all(
  document
    .getAnimations()
    .filter((one) => one.effect?.getComputedTiming().iterations !== Infinity)
    .map((one) => one.finished.catch(() => {})),
).then(() => {})`

/** Axe's findings that are serious or worse, one line each. */
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

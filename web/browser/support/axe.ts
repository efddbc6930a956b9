/** Checks a page in both themes and at two widths: with axe, and for what does not fit its place. */
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import type { Locator, Page } from "playwright-core"
import { phone, wide } from "./browser.ts"

const require = createRequire(import.meta.url)
/** The program that pages run: not half as long as the readable one. */
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8")

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

/**
 * Waits for animations that end: colours between two are nobody's, and axe would judge those of a text that is still fading in.
 * All of them end within the second; those outside of the window stay unfinished for Chromium, though their colours are the
 * last ones.
 */
const movementsEnd = `Promise.race([
  new Promise((late) => setTimeout(late, 1000)),
  Promise.all(
    document
      .getAnimations()
      .filter((one) => one.effect?.getComputedTiming().endTime !== Infinity)
      .map((one) => one.finished.catch(() => {})),
  ),
]).then(() => {})`

const everyRule = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
/** What else axe looks at is the same in both themes. */
const rulesOfColours = ["color-contrast", "link-in-text-block"]

/** Axe's findings that are serious or worse, one line each. */
export async function findings(page: Page, rules = everyRule): Promise<string[]> {
  // What comes meanwhile, such as a button that can be pressed at last, has its last colours at once.
  await page.emulateMedia({ reducedMotion: "reduce" })
  await page.evaluate(movementsEnd)
  if (!(await page.evaluate<boolean>(`"axe" in window`))) await page.evaluate(axe)
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    `axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ["violations"] })`,
  )
  await page.emulateMedia({ reducedMotion: null })
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes
        .filter(({ html }) => !scrollsWithTheField({ id, html }))
        .map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
    )
}

/** The buttons that do not fit the cell of the table that they are in, by their names: it cuts them off, and a click misses them. */
export async function cutButtons(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll("td button")]
    .filter((button) => {
      const cell = button.closest("td")
      const { left, right } = cell.getBoundingClientRect()
      const { paddingLeft, paddingRight } = getComputedStyle(cell)
      const own = button.getBoundingClientRect()
      const isShown = own.width > 0 && getComputedStyle(button).position !== "absolute"
      return isShown && (own.left < left + parseFloat(paddingLeft) || own.right > right - parseFloat(paddingRight))
    })
    .map((button) => button.ariaLabel ?? button.textContent)`)
}

/** What is wrong with a page, wide and on a phone, light and dark: axe's findings, and what is too wide for its place. */
export async function flaws(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const viewport of [wide, phone]) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      await page.evaluate(nextFrame)
      const all = await findings(page, colorScheme === "light" ? everyRule : rulesOfColours)
      found.push(...all.map((finding) => `${colorScheme}, ${viewport.width} px: ${finding}`))
    }
    const overhang = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")
    if (overhang !== 0) found.push(`${viewport.width} px: ${overhang} px more than the window`)
    const cut = await cutButtons(page)
    found.push(...cut.map((name) => `${viewport.width} px: the button "${name}" does not fit its cell`))
  }
  await page.setViewportSize(wide)
  await page.emulateMedia({ colorScheme: null })
  return found
}

/** {@link flaws} of the pages under an address, each as soon as something of it is there; pages without any are left out. */
export async function flawsOfPages(
  page: Page,
  address: string,
  pages: readonly (readonly [path: string, ready: Locator])[],
): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const [path, ready] of pages) {
    await page.goto(`${address}${path}`)
    await ready.waitFor({ state: "attached" })
    const ofPage = await flaws(page)
    if (ofPage.length > 0) found[path] = ofPage
  }
  return found
}

/** Pages notice a new width and another theme before they draw the next frame. */
const nextFrame = `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))`

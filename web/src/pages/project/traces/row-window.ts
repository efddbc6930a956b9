/** Which rows of a long list are wanted, and in which pages and blocks they are read. */

/** The first page is small, since rows are waited for. Later ones are larger: to find a page costs more than its rows. */
const firstPage = 100
const laterPage = 400
/** Payloads come in blocks, and what is seen is told in them, so that scrolling by one row asks for nothing new. */
const blockSize = 50
/** Rows whose payloads are read before they are scrolled to; a wheel that is turned fast passes 200 in a second. */
const ahead = 150
/** A page is asked for before its payloads are: one that comes late has several blocks read, in the frame in which it comes. */
const listedAhead = 300

/** Indexes of rows, both ends inclusive. */
export type Rows = readonly [first: number, last: number]

export interface RowWindow {
  /** Rows that are seen, widened to whole blocks. */
  seen: Rows
  /** Those, and the ones that are scrolled to: their payloads are read. */
  wanted: Rows
  /** Those, and more: their pages are read. */
  listed: Rows
}

export const topWindow: RowWindow = { seen: [0, 0], wanted: [0, 0], listed: [0, 0] }

/** The window after scrolling; the same object when nothing of it changes. */
export function moved(before: RowWindow, first: number, last: number): RowWindow {
  const seen: Rows = [Math.floor(first / blockSize) * blockSize, (Math.floor(last / blockSize) + 1) * blockSize - 1]
  const [top, bottom] = seen
  const [topBefore, bottomBefore] = before.seen
  if (top === topBefore && bottom === bottomBefore) return before
  // After a jump only the rows that are seen are read, none behind them.
  const isJump = top > bottomBefore || bottom < topBefore
  if (isJump || before === topWindow) return { seen, wanted: seen, listed: seen }
  const isDown = top > topBefore || bottom > bottomBefore
  const towards = (count: number): Rows => (isDown ? [top, bottom + count] : [Math.max(0, top - count), bottom])
  return { seen, wanted: towards(ahead), listed: towards(listedAhead) }
}

/** Of the rows those of a list that has `count`. */
export function upTo(count: number, [first, last]: Rows): Rows {
  return [first, Math.min(last, count - 1)]
}

/** Place of a row: its page, and where in that. */
export function pageOf(index: number): { page: number; place: number } {
  if (index < firstPage) return { page: 0, place: index }
  const behind = index - firstPage
  return { page: 1 + Math.floor(behind / laterPage), place: behind % laterPage }
}

export function pageBounds(page: number): { offset: number; limit: number } {
  return page === 0 ? { offset: 0, limit: firstPage } : { offset: firstPage + (page - 1) * laterPage, limit: laterPage }
}

/** Numbers of the pages that hold the rows. */
export function pagesOf([first, last]: Rows): number[] {
  return range(pageOf(first).page, pageOf(last).page)
}

/** The rows in the blocks that payloads are read in. */
export function blocksOf([first, last]: Rows): number[][] {
  return range(Math.floor(first / blockSize), Math.floor(last / blockSize)).map((block) =>
    range(block * blockSize, (block + 1) * blockSize - 1),
  )
}

export function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, offset) => first + offset)
}

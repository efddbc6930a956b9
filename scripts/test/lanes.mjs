/** Which suites run at the same time. */

/**
 * Calls `run` with each of the `chosen` suites. Those that are not `beside` run one after the other, in a lane of their own.
 * The others share `lanes`, those named in `longest` first, so that none of them runs alone at the end; once the others have
 * ended, `helpers` more lanes take their place.
 */
export async function runInLanes(chosen, { lanes, helpers, longest = [] }, run) {
  const [beside, others] = [true, false].map((wanted) => chosen.filter(({ suite }) => Boolean(suite.beside) === wanted))
  const rank = ({ suite }) => (longest.includes(suite.name) ? longest.indexOf(suite.name) : longest.length)
  const shared = beside.toSorted((one, two) => rank(one) - rank(two)).values()
  const lane = async (waiting) => {
    for (const one of waiting) await run(one)
  }
  const sharedBy = (count) => Promise.all(Array.from({ length: count }, () => lane(shared)))
  const own = others.length === 0 ? [] : [lane(others).then(() => sharedBy(helpers))]
  await Promise.all([...own, sharedBy(lanes)])
}

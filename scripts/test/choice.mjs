/** Which suites run, and which of their tests, by what stands behind `npm test --`. */
import { SetupError } from "../setup/progress.mjs"

/**
 * Names of suites and groups, and paths of tests. Paths narrow the suites that are named; alone, the first suite whose
 * folder a path lies in runs it. `exists`: whether there is a file or folder at a path.
 */
export function chosenSuites(suites, names, exists) {
  const isNamed = ({ name, group }) => names.some((given) => given === name || given === group)
  const named = suites.filter(isNamed)
  const paths = names.filter((given) => !suites.some(({ name, group }) => given === name || given === group))
  for (const path of paths) {
    if (!exists(path)) throw new SetupError(`no tests are called ${path}, and no file is: choose from ${known(suites)}`)
  }
  if (paths.length === 0) return (names.length === 0 ? suites : named).map((suite) => ({ suite }))
  const chosen = new Map()
  for (const path of paths) {
    const owners = (named.length === 0 ? suites : named).filter(({ folder }) => folder && path.startsWith(folder))
    // `web/browser/` lies in `web/`.
    const [nearest] = owners.toSorted((a, b) => b.folder.length - a.folder.length)
    const running = named.length === 0 ? [nearest].filter(Boolean) : owners
    if (running.length === 0)
      throw new SetupError(`${path} belongs to none of these suites: ${known(named.length ? named : suites)}`)
    for (const suite of running) chosen.set(suite, [...(chosen.get(suite) ?? []), path])
  }
  return [...chosen].map(([suite, own]) => ({ suite, paths: own }))
}

const known = (suites) => [...new Set(suites.flatMap(({ group, name }) => [group, name]))].filter(Boolean).join(", ")

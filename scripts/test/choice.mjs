/** Chooses suites, and tests in them, from the arguments of `npm test --`. */
import { SetupError } from "../setup/progress.mjs"

/** `title` is the pattern after `-t`, which titles of tests must fit; `others` are the other arguments. */
export function titleIn(names) {
  const at = names.indexOf("-t")
  if (at === -1) return { title: undefined, others: names }
  const title = names[at + 1]
  if (title === undefined) throw new SetupError('-t needs a part of a title: npm test -- FILE -t "a part of its title"')
  return { title, others: names.toSpliced(at, 2) }
}

/**
 * `names` are names of suites and groups, and paths of tests. Paths narrow the suites that are named; without such a
 * name, the suite with the nearest folder above a path runs it. `exists` says whether there is a file or folder at a
 * path.
 */
export function chosenSuites(suites, names, exists) {
  const isNamed = ({ name, group }) => names.some((given) => given === name || given === group)
  const named = suites.filter(isNamed)
  const paths = names.filter((given) => !suites.some(({ name, group }) => given === name || given === group))
  for (const path of paths) {
    if (!exists(path)) throw new SetupError(`no tests are called ${path}, and no file is: choose from ${known(suites)}`)
  }
  if (paths.length === 0) {
    return (names.length === 0 ? suites.filter((suite) => !suite.onlyByName) : named).map((suite) => ({ suite }))
  }
  const chosen = new Map()
  for (const path of paths) {
    const owners = (named.length === 0 ? suites : named).filter(({ folder }) => folder && path.startsWith(folder))
    // The nearest folder: `web/browser/` lies in `web/`, and each has a suite.
    const [nearest] = owners.toSorted((a, b) => b.folder.length - a.folder.length)
    const running = named.length === 0 ? [nearest].filter(Boolean) : owners
    if (running.length === 0)
      throw new SetupError(`${path} belongs to none of these suites: ${known(named.length ? named : suites)}`)
    for (const suite of running) chosen.set(suite, [...(chosen.get(suite) ?? []), path])
  }
  return [...chosen].map(([suite, own]) => ({ suite, paths: own }))
}

const known = (suites) => [...new Set(suites.flatMap(({ group, name }) => [group, name]))].filter(Boolean).join(", ")

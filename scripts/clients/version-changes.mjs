/** Differences between installed packages and their pins. */

const normal = (name) => name.toLowerCase().replaceAll(/[._-]+/g, "-")

/**
 * Lines such as `openai 3.54.0 → 3.57.0`, one for each of `clients` whose version differs from its pin, or one line
 * that says that none differs; then one line for all other packages whose version differs. `installed`: the list that
 * `pip list --format json` prints.
 */
export function changesOf(lock, installed, clients) {
  const pinned = new Map(
    [...lock.matchAll(/^([\w.-]+)(?:\[[^\]]*\])?==([^\s\\;]+)/gm)].map(([, name, version]) => [normal(name), version]),
  )
  const now = new Map(installed.map(({ name, version }) => [normal(name), version]))
  const changed = [...now].filter(([name, version]) => pinned.has(name) && pinned.get(name) !== version)
  const own = new Set(clients)
  const lines = changed
    .filter(([name]) => own.has(name))
    .map(([name, version]) => `${name} ${pinned.get(name)} → ${version}`)
  const others = changed.filter(([name]) => !own.has(name)).map(([name, version]) => `${name} ${version}`)
  const summary = lines.length === 0 ? ["no newer version of its clients"] : lines
  return others.length === 0 ? summary : [...summary, `beside them: ${others.join(", ")}`]
}

/**
 * Prints docs/reference/clients.md: the clients that the suites run, their versions, the day of their pins, their
 * tests.
 */
import { type ClientSet, npmSet, pythonSets, type Suite, suitesIn } from "./client-sets.ts"

export function clientsPage(): string {
  const sets = [...pythonSets(), npmSet()]
  const suites = [...suitesIn("python"), ...suitesIn("node")]
  return [
    "# Clients that are run",
    "",
    "Printed from `compat/` by `node scripts/generate-pages.ts`; change it there.",
    "",
    "Each client is unmodified and exactly pinned, and runs against a started server in every run of the tests. One that asks for",
    "another host than the server fails its suite; weave alone may ask the package index which version is the newest. The date is",
    "the day on which the versions of a set were taken; `npm run compat:newest` runs the same tests with the newest there are.",
    "",
    "| Client | Version | Of | Runs as | Tests |",
    "|---|---|---|---|---|",
    ...sets.flatMap(rowsOf).toSorted(),
    "",
    "## Tests",
    "",
    "What each needs of the server stands in `compat/requirements.json` under these names.",
    "",
    "| Test | What it does | What it needs |",
    "|---|---|---|",
    ...suites.map(suiteRow),
    "",
  ].join("\n")
}

function rowsOf({ name, clients, pinned }: ClientSet): string[] {
  return clients.map((client) => {
    const cells = [client.name, client.version, pinned, `\`npm test -- ${name}\``, client.files.map(nameOf).join(", ")]
    return `| ${cells.join(" | ")} |`
  })
}

function suiteRow({ file, about, covers }: Suite): string {
  const text = about.endsWith(".") ? about.slice(0, -1) : about
  return `| [${nameOf(file)}](../../compat/${file}) | ${text.replaceAll("|", "\\|")} | ${covers.join(", ") || "–"} |`
}

/** `python/test_openai_chat.py` is `openai_chat`, `node/chat.test.ts` is `chat`. */
function nameOf(file: string): string {
  return file.replace(/^\w+\/(?:test_)?/, "").replace(/(?:\.test\.ts|\.py)$/, "")
}

/**
 * The areas of the server: what lives in each folder of `server/src`, and what it may import. The table of
 * ARCHITECTURE.md and the import rules of lint (`.oxlint-imports.json`) are printed from this list: node
 * scripts/generate-pages.ts.
 */

export interface Area {
  /** A folder of `server/src`. */
  folder: string
  lives: string
  /** Areas that it may import, and which of the files `errors.ts`, `limits.ts` and `log.ts`. */
  imports: readonly string[]
  /** Anything more that it may import, as Markdown for its row of the table. */
  note?: string
  /** Its own folders have the names of areas, such as `wire/calls`. */
  mirrorsAreas?: true
}

/** Every area of the evaluation store imports these. */
const edge = ["access", "storage", "http", "wire", "json", "errors"]

export const areas: readonly Area[] = [
  {
    folder: "training",
    lives: "models, checkpoints, jobs, events, log",
    imports: [
      "access",
      "scheduler",
      "gateway",
      "storage",
      "http",
      "outbound",
      "threads",
      "work",
      "wire",
      "json",
      "errors",
      "log",
    ],
  },
  {
    folder: "inference",
    lives: "chat, completions, embeddings, `responses/` and `messages/` translated to chats, model list, usage",
    imports: ["access", "gateway", "storage", "http", "wire", "json", "limits", "errors", "log"],
  },
  {
    folder: "objects",
    lives:
      "of the evaluation store: objects and their `families/`, `tables/`, `refs/`, files (`project/`), `dataset-sources/`, `schemas/`",
    imports: [...edge, "threads", "limits"],
  },
  {
    folder: "labelling",
    lives: "of the evaluation store: `feedback/`, and `annotation/` by people in queues",
    imports: ["objects", ...edge, "threads", "log"],
  },
  {
    folder: "calls",
    lives: "of the evaluation store: calls, spans (`otel/`), `usage/`, `costs/`",
    imports: ["objects", "labelling", ...edge, "threads", "log"],
  },
  {
    folder: "evaluations",
    lives:
      "of the evaluation store: evaluation `runs/` and their `results/`, and what the server runs by itself (`execution/`: judges, evaluations; `scoring/`: rules that score new calls)",
    imports: ["objects", "labelling", "calls", "gateway", ...edge, "outbound", "work", "log"],
  },
  {
    folder: "agents",
    lives: "of the evaluation store: conversations, spans and statistics of agents",
    imports: ["objects", "labelling", "calls", ...edge],
  },
  {
    folder: "transfer",
    lives: "of the evaluation store: `import/` and `export/`",
    imports: ["objects", "labelling", "calls", ...edge, "threads", "work"],
  },
  {
    folder: "platform",
    lives:
      "accounts, keys, uploads, `sign-in/` of people and of W&B clients, `runs/` and `artifacts/` of the wandb client and its `graphql/`",
    imports: [...edge, "threads", "work", "limits", "log"],
  },
  {
    folder: "mcp",
    lives: "tools for coding agents (`/mcp`), which ask the public API with the caller's key, and nothing but it",
    imports: ["access", "http", "wire", "json", "errors"],
  },
  {
    folder: "access",
    lives: "who may do what: `can(caller, right, project)`, and from the name of a project to what may be done in it",
    imports: ["storage", "wire", "work", "errors"],
  },
  {
    folder: "scheduler",
    lives: "job state table, claiming, recovery after a crash",
    imports: ["engines", "storage", "wire", "json", "log", "errors"],
  },
  {
    folder: "gateway",
    lives: "model names to adapters, admission, streams, usage; models of other services (`providers/`)",
    imports: ["access", "engines", "storage", "wire", "work", "limits", "log", "errors", "json", "outbound"],
  },
  {
    folder: "engines",
    lives:
      "the engine seam: Python process, one on another machine (`remote/`), several of those (`pool/`), none, fake",
    imports: ["wire", "log", "errors"],
  },
  {
    folder: "storage",
    lives: "`catalog/`, `traces/`, `blobs/`: a folder an area, one file a noun; SQL and migrations only here",
    imports: ["wire", "json", "work", "limits", "log", "errors"],
    mirrorsAreas: true,
  },
  {
    folder: "http",
    lives: "edge: request id, key → principal, parsing, error dialects, OpenAPI",
    imports: ["access", "wire", "json", "work", "limits", "errors"],
  },
  {
    folder: "outbound",
    lives: "connections to addresses that clients name: what may be reached, how",
    imports: [],
  },
  {
    folder: "threads",
    lives: "threads that work on what clients send: bounded, with deadlines, fair by tenant",
    imports: ["json", "work", "limits", "errors"],
  },
  {
    folder: "json",
    lives: "JSON text as it came: cutting, checking, exact numbers, Python's printing, digests",
    imports: [],
  },
  {
    folder: "work",
    lives:
      "whose work runs and until when, queues that are fair by tenant, what requests share, memory that is given back",
    imports: ["errors"],
  },
  {
    folder: "wire",
    lives: "schemas of everything that crosses a border, a folder an area, nothing else",
    imports: [],
    note: "`zod`",
    mirrorsAreas: true,
  },
]

/** Files of `server/src` that areas may import. */
const sharedFiles = ["errors", "limits", "log"]
const composition = ["app.ts", "main.ts", "move-stores.ts", "config.ts", "task-thread.ts"]
/** Rules are written for so many levels of folders: more than an area that mirrors areas has. */
const deepest = 5

/** The rows of ARCHITECTURE.md's table that are about `server/src`. */
export function areaRows(): string {
  const rows = [
    "| `server/src/main.ts`, `config.ts` | process start and drain; the only reader of the environment | `app` |",
    "| `server/src/move-stores.ts` | the command that moves embedded stores into servers | `config` `storage` |",
    "| `server/src/app.ts`, `task-thread.ts` | composition: opens stores and engine, hands them to the areas, mounts routes; what runs on threads | everything below |",
    ...areas.map(({ folder, lives, imports, note }) => {
      const allowed = imports.map((each) => `\`${each}\``)
      return `| \`server/src/${folder}/\` | ${lives} | ${[...allowed, ...(note === undefined ? [] : [note])].join(" ") || "–"} |`
    }),
  ]
  return `${rows.join("\n")}\n`
}

/** The part of oxlint's configuration that holds the import directions. */
export function importRules(): object {
  return { overrides: areas.flatMap((area) => (area.mirrorsAreas ? rowsByDepth(area) : [row(area)])) }
}

function row(area: Area) {
  return override(`server/src/${area.folder}/**`, area, String.raw`^(?:\.\./)+`)
}

/** One rule for each depth: only the number of `../` tells the area `calls/` from a folder `calls/` in this area. */
function rowsByDepth(area: Area) {
  return Array.from({ length: deepest }, (_, depth) =>
    override(`server/src/${area.folder}/${"*/".repeat(depth)}*.ts`, area, `^${String.raw`\.\./`.repeat(depth + 1)}`),
  )
}

function override(files: string, area: Area, up: string) {
  const { folder, imports, note } = area
  const refused = areas.map((each) => each.folder).filter((each) => each !== folder && !imports.includes(each))
  const files_ = [...sharedFiles.filter((each) => !imports.includes(each)).map((each) => `${each}.ts`), ...composition]
  const targets = [...refused.map((each) => `${each}/`), ...files_.map((each) => each.replace(".", String.raw`\.`))]
  const message = `${folder}/ may import: ${[...imports, ...(note === undefined ? [] : ["zod"])].join(", ") || "nothing"} (ARCHITECTURE.md, scripts/areas.ts)`
  const patterns = [{ regex: `${up}(?:${targets.join("|")})`, message }]
  if (folder === "wire") patterns.push({ regex: "^[a-y@]", message })
  return {
    files: [files],
    excludeFiles: ["**/*.test.ts"],
    rules: { "no-restricted-imports": ["error", { patterns }] },
  }
}

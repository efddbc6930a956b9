/** A run that logged pictures, tables, charts and histograms, as the wandb SDK writes them into its rows and files. */
import { logArtifact } from "./fill-artifacts.ts"
import { wavOf } from "./fill-media.ts"
import { fillRun, jsonOf, storeRunFiles } from "./fill-runs.ts"
import type { Heddle } from "./heddle.ts"

interface LoggedFiles {
  png: Buffer
  svg: string
  html: string
}

const chat = (role: string, content: string) => [{ role, content }]

export async function fillRunMedia(heddle: Heddle, project: string, { png, svg, html }: LoggedFiles): Promise<void> {
  const tables = {
    samples: {
      columns: ["prompt", "completion", "reward"],
      data: [
        [chat("user", "What is the Sun?"), chat("assistant", "A star."), 0.1],
        [chat("user", "And the Moon?"), "A rock.", 4611686018427387923n],
      ],
    },
    roc_table: {
      columns: ["class", "fpr", "tpr"],
      data: [
        ["cat", 0, 0],
        ["cat", 0, 0.8],
        ["cat", 1, 1],
        ["dog", 0, 0],
        ["dog", 0.5, 0.6],
        ["dog", 1, 1],
      ],
    },
    taken_table: {
      columns: ["Actual", "Predicted", "nPredictions"],
      data: [
        ["cat", "cat", 31],
        ["cat", "dog", 4],
        ["dog", "cat", 7],
        ["dog", "dog", 29],
      ],
    },
    own_table: { columns: ["a"], data: [["of a chart that is not known"]] },
    shots: {
      columns: ["step", "shot", "sound"],
      data: [
        ["first", "Image", "Audio"],
        ["second", null, null],
      ],
    },
  }
  const pathOf = (name: string) => `media/table/${name}.table.json`
  const texts = Object.entries(tables).map(([name, table]) => [pathOf(name), jsonOf(table)] as const)
  await fillRun(heddle, project, {
    name: "kept",
    displayName: "pictures-of-a-run",
    exitCode: 0,
    steps: 8,
    settings: {
      visualize: {
        roc: panel("wandb/area-under-curve/v0", "ROC", "roc_table", { x: "fpr", y: "tpr", class: "class" }),
        taken: panel("wandb/confusion_matrix/v1", "Taken for", "taken_table", {
          Actual: "Actual",
          Predicted: "Predicted",
          nPredictions: "nPredictions",
        }),
        own: panel("acme/own/v3", "Our own", "own_table", {}),
      },
    },
    logged: {
      2: { sample: picture("first"), "gradients/w": histogram([1, 5, 2]) },
      7: {
        sample: picture("second"),
        "gradients/w": histogram([2, 9, 4]),
        several: {
          _type: "images/separated",
          filenames: ["media/images/sample.png", "media/images/drawing.svg"],
          captions: ["one", "two"],
        },
        page: { _type: "html-file", path: "media/html/page.html", size: html.length },
        ...Object.fromEntries(
          texts.map(([path, text], place) => [
            Object.keys(tables)[place],
            {
              _type: "table-file",
              path,
              size: text.length,
              nrows: 2,
              ncols: 3,
              artifact_path: `wandb-client-artifact://${clientId}/${Object.keys(tables)[place]}.table.json`,
            },
          ]),
        ),
      },
    },
  })
  await storeRunFiles(
    heddle,
    { project, run: "kept" },
    {
      "media/images/sample.png": png,
      "media/images/drawing.svg": svg,
      "media/html/page.html": html,
      ...Object.fromEntries(texts),
    },
  )
  await logShots(heddle, project, png)
}

const clientId = "9fu3nq7shotsofkept"

/** The same table as the artifact has it: its cells name files beside it. */
async function logShots(heddle: Heddle, project: string, png: Buffer): Promise<void> {
  const cell = { _type: "image-file", path: "media/images/3f1c/shot.png", format: "png", width: 1, height: 1 }
  const sound = { _type: "audio-file", path: "media/audio/2b/beep.wav", caption: "a beep" }
  const table = {
    _type: "table",
    columns: ["step", "shot", "sound"],
    data: [
      ["first", cell, sound],
      ["second", null, null],
    ],
  }
  await logArtifact(heddle, {
    project,
    run: "kept",
    name: "run-kept-shots",
    type: "run_table",
    aliases: ["latest"],
    clientId,
    files: { "shots.table.json": jsonOf(table), [cell.path]: png, [sound.path]: wavOf(1) },
  })
}

const picture = (caption: string) => ({ _type: "image-file", path: "media/images/sample.png", format: "png", caption })
const histogram = (values: number[]) => ({ _type: "histogram", values, bins: [-1, -0.5, 0.5, 1] })

const panel = (panelDefId: string, title: string, table: string, fieldSettings: object) => ({
  panel_type: "Vega2",
  panel_config: {
    panelDefId,
    fieldSettings,
    stringSettings: { title },
    userQuery: {
      queryFields: [
        { name: "runSets", fields: [{ name: "summaryTable", args: [{ name: "tableKey", value: table }], fields: [] }] },
      ],
    },
  },
})

import { expect, test } from "vitest"
import { kindOfType, loggedMedia } from "./logged-media.ts"

const file = (path: string, more: object = {}) => ({ _type: "any-file", path, size: 3, sha256: "0", ...more })
const filesOf = (value: unknown) => {
  const media = loggedMedia(value)
  return media?.kind === "files" ? media.files.map(({ path, caption, type }) => [path, caption, type]) : null
}

test("one file has its path; several have filenames, or a list under the name of their type", () => {
  expect(filesOf(file("media/images/a.PNG", { _type: "image-file", caption: "a cat" }))).toEqual([
    ["media/images/a.PNG", "a cat", "image/png"],
  ])
  expect(
    filesOf({ _type: "images/separated", filenames: ["a.png", "b.jpg"], captions: ["one"], count: 2, format: "png" }),
  ).toEqual([
    ["a.png", "one", "image/png"],
    ["b.jpg", "", "image/jpeg"],
  ])
  expect(filesOf({ _type: "audio", audio: [file("a.wav", { caption: "loud" }), file("b.wav")], count: 2 })).toEqual([
    ["a.wav", "loud", "audio/wav"],
    ["b.wav", "", "audio/wav"],
  ])
  expect(filesOf({ _type: "videos", videos: [file("a.mp4")], captions: ["a film"] })).toEqual([
    ["a.mp4", "a film", "video/mp4"],
  ])
  expect(filesOf(file("media/plotly/a.plotly.json"))).toEqual([["media/plotly/a.plotly.json", "", ""]])
})

test("a table has its path and size, a histogram its bins and counts", () => {
  expect(loggedMedia(file("t.table.json", { _type: "table-file", nrows: 4 }))).toEqual({
    kind: "table",
    path: "t.table.json",
    bytes: 3,
    artifact: null,
  })
  const ofArtifact = (artifact_path: unknown) =>
    loggedMedia(file("t.table.json", { _type: "table-file", artifact_path }))
  expect(ofArtifact("wandb-client-artifact://9fu3/dir/t.table.json")).toMatchObject({
    artifact: { clientId: "9fu3", path: "dir/t.table.json" },
  })
  expect(ofArtifact("wandb-artifact://687474/x/t.table.json")).toMatchObject({ artifact: null })
  expect(loggedMedia({ _type: "histogram", values: [1, 2], bins: [0, 1, 2] })).toEqual({
    kind: "histogram",
    histogram: { bins: [0, 1, 2], counts: [1, 2] },
  })
  expect(["table-file", "incremental-table-file", "histogram", "molecule-file"].map(kindOfType)).toEqual([
    "table",
    "table",
    "histogram",
    "files",
  ])
})

test.each([
  [null],
  ["image-file"],
  [{ path: "a.png" }],
  [{ _type: 3, path: "a.png" }],
  [{ _type: "image-file" }],
  [{ _type: "image-file", path: "wandb-client-artifact://x/a.png" }],
  [{ _type: "images/separated", filenames: [1, "https://other.example/a.png"] }],
  [{ _type: "audio", audio: [{ caption: "none" }, null] }],
  [{ _type: "table-file", path: 3 }],
  [{ _type: "histogram", values: [1], bins: [0] }],
  [{ _type: "histogram", values: [], bins: [0] }],
  [{ _type: "histogram", values: ["1"], bins: [0, 1] }],
])("%j cannot be shown", (value) => {
  expect(loggedMedia(value)).toBeNull()
})

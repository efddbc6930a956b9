/** What is recognised as a picture, a sound or a file, and what is not. */
import { expect, test } from "vitest"
import type { JsonText } from "../json/json-text.ts"
import { byteCount, bytesOf } from "./base64.ts"
import { contentMetadata } from "./content-metadata.ts"
import { mediaIn } from "./media.ts"
import { kindOf, shownType, typeOfName, usualType } from "./media-types.ts"
import { mediaOfText } from "./payload-media.ts"

const digest = "Ai6AvTKMp6sw9LWzhH9eRtH0YeXacJYV7osgUMfWzBU"
const custom = (type: string, files: object, more: object = {}) => ({
  _type: "CustomWeaveType",
  weave_type: { type },
  files,
  load_op: "weave:///a/b/op/load:v0",
  ...more,
})
const file = (name: string, type: string) => ({ name, type, source: { at: "file", digest, metadata: null } })
const data = (type: string, base64 = "aGk=") => ({ name: "", type, source: { at: "data", base64 } })

test("what the Weave SDK stored as files", () => {
  expect(
    mediaIn({
      image: custom("PIL.Image.Image", { "image.jpg": digest }),
      deep: [{ sound: custom("wave.Wave_read", { "_metadata.json": digest, "audio.wav": digest }) }],
      film: custom("moviepy.video.VideoClip.VideoClip", { "video.mp4": digest }),
      words: custom("rich.markdown.Markdown", {}, { val: { markup: "# Hi", code_theme: "monokai" } }),
      content: custom("weave.type_wrappers.Content.content.Content", { content: digest, "metadata.json": "m" }),
    }).map(({ path, ...media }) => [path, media]),
  ).toEqual([
    ["image", file("image.jpg", "image/jpeg")],
    ["deep.0.sound", file("audio.wav", "audio/wav")],
    ["film", file("video.mp4", "video/mp4")],
    ["words", { name: "", type: "text/markdown", source: { at: "text", text: "# Hi" } }],
    ["content", { name: "", type: "", source: { at: "file", digest, metadata: "m" } }],
  ])
})

test.each([
  ["OpenAI", { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } }, data("image/png")],
  ["OpenAI responses", { type: "input_image", image_url: "data:image/webp;base64,aGk=" }, data("image/webp")],
  ["OpenAI audio", { type: "input_audio", input_audio: { data: "aGk=", format: "mp3" } }, data("audio/mpeg")],
  [
    "OpenAI file",
    { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,aGk=" } },
    { ...data("application/pdf"), name: "a.pdf" },
  ],
  ["OpenAI picture", { b64_json: "aGk=", url: null }, data("image/png")],
  [
    "Anthropic",
    { type: "image", source: { type: "base64", media_type: "image/gif", data: "aGk=" } },
    data("image/gif"),
  ],
  [
    "Anthropic text",
    { type: "document", title: "T", source: { type: "text", media_type: "text/plain", data: "hi" } },
    { name: "T", type: "text/plain", source: { at: "text", text: "hi" } },
  ],
  ["Gemini", { inline_data: { mime_type: "image/jpg", data: "_-8=" } }, data("image/jpeg", "_-8=")],
  ["Gemini of JavaScript", { inlineData: { mimeType: "audio/x-wav", data: "aGk=" } }, data("audio/wav")],
  ["OpenTelemetry", { type: "blob", mime_type: "image/png", content: "aGk=" }, data("image/png")],
])("a part of %s", (_, part, media) => {
  expect(mediaIn({ messages: [{ content: [part] }] })).toEqual([{ ...media, path: "messages.0.content.0" }])
})

test("an address of another host is named; one that is no page's is nothing", () => {
  const [found] = mediaIn({ type: "image_url", image_url: { url: "https://example.com/a.png" } })
  expect(found).toMatchObject({ name: "image", source: { at: "link", url: new URL("https://example.com/a.png") } })
  for (const url of [
    "javascript:alert(1)",
    "file:///etc/passwd",
    "//example.com/a.png",
    "/files/x",
    "https://",
    "data:",
  ])
    expect(mediaIn({ type: "image_url", image_url: { url } })).toEqual([])
})

test.each<[unknown]>([
  [custom("Op", { "obj.py": digest })],
  [custom("PIL.Image.Image", { "image.png": "../../etc/passwd" })],
  [custom("PIL.Image.Image", { "image.png": { deep: 1 } })],
  [{ files: { "image.png": digest } }],
  ["data:text/html,<script>alert(1)</script>"],
  ["data:image/png;base64,<b>"],
  ["see data:image/png;base64,aGk="],
  [{ type: "input_audio", input_audio: null }],
  [{ type: "image", source: { type: "base64", data: 5 } }],
  [{ __proto__: null, constructor: { type: "image_url" } }],
])("none: %j", (value) => {
  expect(mediaIn(value)).toEqual([])
})

test("what can run is never shown by an address, and is text where it is text", () => {
  for (const type of [
    "text/html",
    "application/xhtml+xml",
    "text/xml",
    "application/pdf",
    "image/svg+xml; x",
    "",
    "__proto__",
  ])
    expect(shownType(type)).toBeNull()
  expect([kindOf("text/html"), kindOf("application/pdf"), kindOf("image/tiff"), kindOf("image/svg+xml")]).toEqual([
    "text",
    "file",
    "file",
    "image",
  ])
  expect([typeOfName("a.PNG"), typeOfName("constructor"), usualType("Image/JPG; q=1")]).toEqual([
    "image/png",
    "",
    "image/jpeg",
  ])
})

test("metadata is a client's word", () => {
  expect(contentMetadata('{"filename": "a.mp3", "mimetype": "audio/mp3", "size": 1}')).toEqual({
    name: "a.mp3",
    type: "audio/mpeg",
    size: 1,
  })
  expect(contentMetadata('{"filename": 5, "extension": ".pdf"}')).toEqual({
    name: "",
    type: "application/pdf",
    size: null,
  })
  for (const text of ["", "[1", "null", '{"size": -1}'])
    expect(contentMetadata(text)).toEqual({ name: "", type: "", size: null })
})

test("work is bounded: many media, deep values, and a text that is too large to look into", () => {
  const image = "data:image/png;base64,aGk="
  expect(mediaIn(Array.from({ length: 500 }, () => image))).toHaveLength(60)
  let deep: unknown = image
  for (let level = 0; level < 5000; level += 1) deep = [deep]
  expect(mediaIn(deep)).toEqual([])
  expect(mediaOfText(`["${"x".repeat(50_000_000)}"]` as JsonText)).toEqual([])
  expect(mediaOfText(`["${image}${"x".repeat(50_000_000)}"]` as JsonText)).toBeNull()
  expect(mediaOfText(`{"a": "${image}"}` as JsonText)).toMatchObject([{ path: "a", type: "image/png" }])
})

test("base64 of both alphabets, its size, and what is none", () => {
  expect(bytesOf("_-8=")).toEqual(new Uint8Array([255, 239]))
  expect(bytesOf("a")).toBeNull()
  for (const text of ["", "a", "ab", "abc", "abcdefghij"]) expect(byteCount(btoa(text))).toBe(text.length)
})

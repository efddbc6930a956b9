import { expect, test } from "vitest"
import { projectHeader, projectPath, shellWord } from "./project-path.ts"

test("a project within an address is one word, which leads to the project", () => {
  expect(projectPath("local/demo-2")).toBe("local/demo-2")
  const path = projectPath("my team/it's (все)!*")
  expect(path).toMatch(/^[\w%.-]+\/[\w%.-]+$/)
  expect(new URL(`/${path}/playground`, "http://host").pathname.split("/").map(decodeURIComponent)).toEqual([
    "",
    "my team",
    "it's (все)!*",
    "playground",
  ])
})

test("a project is named in a header as it is, where headers carry it", () => {
  expect(projectHeader("local/50% off")).toBe("local/50% off")
  expect(projectHeader("local/プロ 1")).toBe("local/%E3%83%97%E3%83%AD%201")
})

test.each([
  ["local/demo", "local/demo"],
  ["local/my demo", "'local/my demo'"],
  ["local/ann's $HOME", String.raw`'local/ann'\''s $HOME'`],
])("%s as a word of a shell", (text, word) => expect(shellWord(text)).toBe(word))

import { expect, test } from "vitest"
import { browserName } from "./browser-name.ts"

const like = "Mozilla/5.0 (X11; Linux x86_64)"

test.each([
  [`${like} AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/156.0.0.0 Safari/537.36`, "Chrome 156 on Linux"],
  [`${like} AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`, "Edge 142 on Linux"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox 145 on macOS"],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 Version/26.0 Mobile/15E148 Safari/604.1",
    "Safari 26 on iOS",
  ],
  ["curl/8.9", "curl/8.9"],
  ["", "Unknown browser"],
])("%s is %s", (userAgent, name) => expect(browserName(userAgent)).toBe(name))

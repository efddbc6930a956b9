import { expect, test } from "vitest"
import { uvSettings } from "./uv.mjs"

test("uv gets the indexes, links, certificate, proxy and hosts that pip is set up for", () => {
  const printed = [
    "global.index-url='https://mirror.example/simple'",
    "global.extra-index-url='file:///a/simple\\nhttps://b.example/simple'",
    "global.find-links='/wheels /more'",
    "global.cert='/ca.crt'",
    "global.trusted-host='mirror.example'",
    "global.proxy='http://proxy.example:3128'",
    "global.timeout='60'",
    "freeze.timeout='1'",
  ]
  expect(uvSettings(printed.join("\n"))).toEqual({
    UV_DEFAULT_INDEX: "https://mirror.example/simple",
    UV_INDEX: "file:///a/simple https://b.example/simple",
    UV_FIND_LINKS: "/wheels,/more",
    UV_INSECURE_HOST: "mirror.example",
    SSL_CERT_FILE: "/ca.crt",
    HTTPS_PROXY: "http://proxy.example:3128",
    UV_HTTP_TIMEOUT: "60",
  })
})

test("pip's environment is stronger than its section for installs, and that than its common one", () => {
  const file = ["global.index-url='https://common.example'", "install.index-url='https://installs.example'"]
  expect(uvSettings(file.join("\n"))).toEqual({ UV_DEFAULT_INDEX: "https://installs.example" })
  expect(uvSettings([...file, ":env:.index-url='https://own.example'"].join("\n"))).toEqual({
    UV_DEFAULT_INDEX: "https://own.example",
  })
})

test("without settings of pip uv asks PyPI as it does by itself; no-index asks nobody", () => {
  expect(uvSettings("")).toEqual({})
  expect(uvSettings("global.no-index='true'")).toEqual({ UV_NO_INDEX: "1" })
  expect(uvSettings("global.no-index='false'")).toEqual({})
})

/** For `npm run dev`: fills `index.html` as the server does, and passes every address that is no page on to a Heddle that runs. */
import type { Plugin } from "vite"
import { isOfApi } from "../../server/src/http/pages/page-paths.ts"

export function serveTemplate(server: string): Plugin {
  return {
    name: "heddle-serve-template",
    apply: "serve",
    config: () => ({
      base: "/",
      html: { cspNonce: "" },
      server: {
        proxy: {
          "^/": {
            target: server,
            // The server compares where a request comes from with the address it was sent to.
            changeOrigin: false,
            bypass: ({ url = "/" }) => (isOfApi(url.split("?", 1)[0] ?? "/") ? undefined : url),
          },
        },
      },
    }),
    transformIndexHtml: (html) =>
      html.replace("{{base}}", "/").replace("{{theme}}", "system").replaceAll("{{nonce}}", ""),
  }
}

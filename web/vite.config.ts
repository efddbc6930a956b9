import babel from "@rolldown/plugin-babel"
import react, { reactCompilerPreset } from "@vitejs/plugin-react"
import { defineConfig } from "vite"
import { precompress } from "./build/precompress.ts"
import { serveTemplate } from "./build/serve-template.ts"

/** Where `npm run dev` sends what is no page: a Heddle that runs. */
const server = process.env["HEDDLE_URL"] ?? "http://127.0.0.1:8080"

/** What the first script needs of others' code: it changes seldom, so browsers keep it over an upgrade. */
const libraries = {
  name: "libraries",
  test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(history|query-core|react-query|react-router|react-store|router-core|store))\//,
}

/**
 * The small modules that most pages show things with: one file packs better than forty, whose names each page would
 * list. What only forms and comparisons need stays out, so that the first screen does not wait for it.
 */
const parts = {
  name: "parts",
  test: /web\/src\/(components\/(controls\/(?!field|download-button|save-file)|signs\/(?!heat|comparison-bar|tag)|states|layout\/(pane|page-bar|plain-table)|text\/(code|for-readers|link))|format|clock|keys|api\/(api-error|client|queries|session)|base-path)/,
}

export default defineConfig({
  root: import.meta.dirname,
  // Relative: the server may stand under any path.
  base: "./",
  plugins: [react(), babel({ presets: [reactCompilerPreset()] }), serveTemplate(server), precompress()],
  html: { cspNonce: "{{nonce}}" },
  build: {
    // The policy allows no `data:` but for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups: [libraries, parts] } } },
  },
  worker: { format: "es" },
})

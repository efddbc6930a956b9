import { createHash } from "node:crypto"
import path from "node:path"
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
 * The small modules that most pages read and show things with: one file packs better than forty, whose names each page
 * would list. What only forms and comparisons need stays out, so that the first screen does not wait for it.
 */
const partModules = [
  "api/(api-error|calls/calls|client|evaluations/run-filter|labelling/annotation-queues|organization/projects|queries|session|text-lines|training/training)\\.",
  "base-path",
  "calls/call-names",
  "clock",
  "components/charts/(chart-colors|sparkline)",
  "components/controls/(?!field|download-button|save-file|use-draft)",
  "components/layout/(pane|page-bar|plain-table)",
  "components/signs/(?!heat|comparison-bar|tag)",
  "components/states",
  "components/text/(code|for-readers|link)",
  "format",
  "json/json-(cursor|text)",
  "keys",
  "pages/project/training/(telling-curve|job-progress|job-words)\\.",
]
const partIcons = "lucide-react/dist/esm/icons/(rotate-ccw|zap)\\.mjs$"
const parts = { name: "parts", test: new RegExp(`web/src/(${partModules.join("|")})|${partIcons}`) }

/** Of a class of a CSS module. One ending for all of a file packs better than the line of each, and is as good. */
function classNameIn(name: string, file: string): string {
  const place = path.relative(import.meta.dirname, file)
  return `${name}-${createHash("sha256").update(place).digest("base64url").slice(0, 5)}`
}

export default defineConfig({
  root: import.meta.dirname,
  // Relative: the server may stand under any path.
  base: "./",
  plugins: [react(), babel({ presets: [reactCompilerPreset()] }), serveTemplate(server), precompress()],
  html: { cspNonce: "{{nonce}}" },
  css: { modules: { generateScopedName: classNameIn } },
  build: {
    // The policy allows no `data:` but for images and sounds.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [libraries, parts] },
        // The first script names every file of every page, and a hash does not pack: seven letters of it are enough.
        chunkFileNames: "assets/[name]-[hash:7].js",
        assetFileNames: "assets/[name]-[hash:7][extname]",
      },
    },
  },
  worker: { format: "es" },
})

/** Packs the built files once, as small as it gets, so that the server need not do it for each answer. */
import { readdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import type { Plugin } from "vite"

const packable = /\.(js|css|svg|json)$/
/** Smaller files fit into one packet anyway. */
const smallestBytes = 1400

export function precompress(): Plugin {
  let folder = ""
  return {
    name: "heddle-precompress",
    apply: "build",
    configResolved: (config) => {
      folder = path.resolve(config.root, config.build.outDir, config.build.assetsDir)
    },
    closeBundle: async () => {
      const names = await readdir(folder).catch(() => [])
      await Promise.all(names.filter((name) => packable.test(name)).map((name) => pack(path.join(folder, name))))
    },
  }
}

async function pack(file: string): Promise<void> {
  const content = await readFile(file)
  if (content.length < smallestBytes) return
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    promisify(gzip)(content, { level: 9 }),
  ])
  await Promise.all([writeFile(`${file}.br`, br), writeFile(`${file}.gz`, gz)])
}

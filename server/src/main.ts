/** Start and drain of one server process. */
import { createApp } from "./app.ts"
import { type Config, readConfig } from "./config.ts"

/** After this long, what is still running is cut off. */
const drainMs = 20_000

async function main(): Promise<void> {
  const config = readConfig(process.argv.slice(2), process.env)
  const app = await createApp(config)
  const url = await app.server.listen({ host: config.host, port: config.port })
  announce(config, url, app.firstKey)
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      setTimeout(() => process.exit(1), drainMs).unref()
      void app.close().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    })
  }
}

function announce(config: Config, url: string, firstKey: string | null): void {
  const lines = [`Heddle is ready at ${url} (data in ${config.dataDir})`]
  if (firstKey !== null) {
    lines.push("", `Your API key, shown only this once: ${firstKey}`, "It is an administrator's key. Keep it safe.", "")
  }
  process.stdout.write(`${lines.join("\n")}\n`)
}

try {
  await main()
} catch (error) {
  process.stderr.write(`Heddle cannot start: ${(error as Error).message}\n`)
  if (process.env["HEDDLE_LOG"] === "debug") console.error(error)
  process.exit(1)
}

/**
 * Prints progress of the set-up on standard error: standard output belongs to the command itself, whose last line may
 * be one JSON object.
 */
/** A failure that the reader can mend; it is printed without a stack trace. */
export class SetupError extends Error {}

export function say(text) {
  process.stderr.write(`heddle: ${text}\n`)
}

/**
 * Runs `work` and prints `title` and how long it took. `work` gets a function to which it reports its present step;
 * null reports nothing. A terminal's line is rewritten each second; a log gets a line now and then.
 */
export async function step(title, work) {
  const began = performance.now()
  const live = process.stderr.isTTY
  let at = ""
  const tick = () => {
    const line = `  ${seconds(performance.now() - began)}  ${at}`.slice(0, (process.stderr.columns ?? 100) - 1)
    process.stderr.write(live ? `\r\x1b[2K${line}` : `${line}\n`)
  }
  say(`${title} …`)
  const timer = setInterval(tick, live ? 1_000 : 10_000)
  try {
    return await work((text) => (at = text ?? at))
  } finally {
    clearInterval(timer)
    if (live) process.stderr.write("\r\x1b[2K")
    say(`${title}: ${seconds(performance.now() - began)}`)
  }
}

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`

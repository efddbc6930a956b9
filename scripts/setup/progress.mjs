/**
 * Progress of the set-up, on standard error: standard output belongs to the command itself, whose
 * last line may be one JSON object.
 */
/** A failure the reader can mend: shown without a stack trace. */
export class SetupError extends Error {}

export function say(text) {
  process.stderr.write(`heddle: ${text}\n`)
}

/** Runs `work` and prints what it is and how long it took. `work` gets a function for details. */
export async function step(title, work) {
  const began = performance.now()
  const live = process.stderr.isTTY
  say(`${title} …`)
  let shown = 0
  const detail = (text) => {
    const now = performance.now()
    // A terminal line is rewritten; a log gets a line every few seconds, so that it stays readable.
    if (now - shown < (live ? 100 : 5000)) return
    shown = now
    const line = `  ${seconds(now - began)}  ${text}`.slice(0, (process.stderr.columns ?? 100) - 1)
    process.stderr.write(live ? `\r\x1b[2K${line}` : `${line}\n`)
  }
  try {
    return await work(detail)
  } finally {
    if (live && shown) process.stderr.write("\r\x1b[2K")
    say(`${title}: ${seconds(performance.now() - began)}`)
  }
}

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`

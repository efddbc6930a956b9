/**
 * A module that is loaded into a server's process before the server (`node --import`). It measures how long the event
 * loop stood still and how much memory the process took, and sends both to the parent process on request.
 */
import type { ProbeReading } from "./watched-server.ts"

const resolutionMs = 10

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

let peakBytes = 0
let longestWorkMs = 0
let longestStallMs = 0
let lastCpuMs = cpuMs()
let lastMs = performance.now()

/** Runs by a timer, and so in every turn of the event loop that takes longer than the timer's interval. */
function look(): void {
  const [nowMs, nowCpuMs] = [performance.now(), cpuMs()]
  longestWorkMs = Math.max(longestWorkMs, nowCpuMs - lastCpuMs)
  longestStallMs = Math.max(longestStallMs, nowMs - lastMs - resolutionMs)
  lastCpuMs = nowCpuMs
  lastMs = nowMs
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
}
setInterval(look, resolutionMs).unref()

process.on("message", () => {
  look()
  const reading: ProbeReading = { longestStallMs, longestWorkMs, peakBytes, residentBytes: process.memoryUsage.rss() }
  process.send?.(reading)
  peakBytes = 0
  longestWorkMs = 0
  longestStallMs = 0
})
process.channel?.unref()

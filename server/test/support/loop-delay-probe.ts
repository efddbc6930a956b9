/**
 * Loaded into a server's process ahead of the server (`node --import`). It measures how long the event loop stood still
 * and how much memory the process took, and tells both to the parent process whenever that asks.
 */
import { monitorEventLoopDelay } from "node:perf_hooks"
import type { ProbeReading } from "./watched-server.ts"

const resolutionMs = 10
const delays = monitorEventLoopDelay({ resolution: resolutionMs })
delays.enable()

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

let peakBytes = 0
let longestWorkMs = 0
let lastCpuMs = cpuMs()

/** A timer fires in every turn of the event loop that takes longer than its interval. */
function look(): void {
  const now = cpuMs()
  longestWorkMs = Math.max(longestWorkMs, now - lastCpuMs)
  lastCpuMs = now
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
}
setInterval(look, resolutionMs).unref()

process.on("message", () => {
  look()
  // A sample is the time between two ticks.
  const longestStallMs = Math.max(0, delays.max / 1e6 - resolutionMs)
  const reading: ProbeReading = { longestStallMs, longestWorkMs, peakBytes, residentBytes: process.memoryUsage.rss() }
  process.send?.(reading)
  delays.reset()
  peakBytes = 0
  longestWorkMs = 0
})
process.channel?.unref()

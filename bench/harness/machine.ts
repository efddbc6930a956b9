/** Describes the machine, and reads processor time and memory of processes from /proc. */
import { readdirSync, readFileSync } from "node:fs"
import os from "node:os"

export interface Machine {
  cpu: string
  cores: number
  memory_gib: number
  system: string
  node: string
  /** The GPU that was used, if one was. */
  gpu?: string
}

export const machineCores = () => os.cpus().length

export function describeMachine(): Machine {
  const cpus = os.cpus()
  return {
    cpu: cpus[0]?.model.trim() ?? "unknown",
    cores: cpus.length,
    memory_gib: Math.round(os.totalmem() / 2 ** 30),
    system: `${os.type()} ${os.release()} ${os.arch()}`,
    node: process.versions.node,
  }
}

/** CPU seconds that all processes of the machine have used since it started; null where /proc is missing. */
export function machineCpuSeconds(): number | null {
  const line = readText("/proc/stat")?.split("\n", 1)[0]
  if (!line) return null
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.trim().split(/\s+/).slice(1).map(Number)
  return (user + nice + system + irq + softirq) / CLOCK_TICKS
}

/** CPU seconds of a process and its descendants, ended children included; null where /proc is missing. */
export function treeCpuSeconds(root: number): number | null {
  const processes = readProcesses()
  if (!processes.has(root)) return null
  let total = 0
  for (const pid of descendants(root, processes)) total += processes.get(pid)?.cpuSeconds ?? 0
  return total
}

/** Memory that a process and its descendants hold now, in MiB; NaN where /proc is missing. */
export function residentMebibytes(root: number): number {
  return mebibytesOf(descendants(root))
}

/** Memory that these processes hold, in MiB; NaN where /proc is missing or one of them has ended. */
export function mebibytesOf(pids: readonly number[]): number {
  return sum(pids.map((pid) => kibibytes(/^VmRSS:\s+(\d+)/m, readText(`/proc/${pid}/status`) ?? ""))) / 1024
}

/**
 * Resident memory of the mappings in which these processes keep keys, values and prompts, in MiB: those that reserve
 * nothing and take small pages. NaN where /proc is missing or one of the processes has ended.
 */
export function pagedMebibytesOf(pids: readonly number[]): number {
  const perProcess = pids.map((pid) => {
    const mappings = readText(`/proc/${pid}/smaps`)?.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
    const paged = mappings?.filter((mapping) => /^VmFlags:(?=.* nr)(?=.* nh)/m.test(mapping)) ?? [""]
    return sum(paged.map((mapping) => kibibytes(/^Rss:\s+(\d+)/m, mapping)))
  })
  return sum(perProcess) / 1024
}

/** NaN where the text has no such line. */
const kibibytes = (line: RegExp, text: string) => Number(line.exec(text)?.[1])
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** The process and its descendants that still run, parents first. */
export function descendants(root: number, processes = readProcesses()): number[] {
  const tree = [root]
  for (const parent of tree) {
    for (const [pid, one] of processes) if (one.parent === parent) tree.push(pid)
  }
  return tree
}

/** USER_HZ, which Linux fixes at 100 for programs. */
const CLOCK_TICKS = 100

interface ProcessTimes {
  parent: number
  cpuSeconds: number
}

function readProcesses(): Map<number, ProcessTimes> {
  const processes = new Map<number, ProcessTimes>()
  for (const name of listProc()) {
    // Fields are read after the command, which is in parentheses and may contain spaces and parentheses.
    const fields = readText(`/proc/${name}/stat`)
      ?.replace(/^.*\) /s, "")
      .split(" ")
      .map(Number)
    if (!fields) continue
    const [, parent = 0] = fields
    const ticks = sum(fields.slice(11, 15))
    processes.set(Number(name), { parent, cpuSeconds: ticks / CLOCK_TICKS })
  }
  return processes
}

function listProc(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return null
  }
}

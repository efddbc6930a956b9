import { open } from "node:fs/promises"

/** Returns once the folder's list of names is on the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Backups of the running server. No public service has these calls; the shapes are ours. */
import { z } from "zod"
import { listOf } from "./account.ts"

export const backup = z.object({
  object: z.literal("organization.backup"),
  name: z.string(),
  created_at: z.iso.datetime(),
  bytes: z.int(),
  seconds: z.number(),
})

export const backupList = listOf(backup)

export const backupParams = z.object({ name: z.string() })

export const deletedBackup = z.object({ name: z.string(), deleted: z.literal(true) })

export type Backup = z.infer<typeof backup>

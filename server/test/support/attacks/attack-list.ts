/** All attacks. H2 and H9 have none: H2 is about files, H9 about what the server lets in (SECURITY.md). */
import type { Attack } from "./attack.ts"
import { catalogAttacks } from "./catalog-attacks.ts"
import { chatAttacks } from "./chat-attacks.ts"
import { payloadAttacks } from "./payload-attacks.ts"
import { queryAttacks } from "./query-attacks.ts"
import { stalledAttacks } from "./stalled-attacks.ts"

export const attacks: readonly Attack[] = [
  ...catalogAttacks,
  ...queryAttacks,
  ...stalledAttacks,
  ...payloadAttacks,
  ...chatAttacks,
].toSorted((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }))

/** Links that let somebody into a team, each one person. The shape is ours. */
import { z } from "zod"
import { memberRole } from "./access.ts"
import { createdApiKey, newEntityName, user } from "./account.ts"

export const createInvitationBody = z.object({
  role: memberRole.default("member"),
  /** Without it, a week from now. */
  expires_at: z.iso.datetime({ offset: true }).nullish(),
})

export const invitation = z.object({
  id: z.uuid(),
  object: z.literal("organization.invitation"),
  team: z.string(),
  role: memberRole,
  invited_by: z.string(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
})

export const createdInvitation = invitation.extend({
  /** Shown only in this answer; it lets one person in. */
  token: z.string(),
})

export const invitationParams = z.object({ team: z.string(), invitation_id: z.string() })
export const acceptInvitationBody = z.object({ token: z.string() })
export const signUpBody = z.object({ token: z.string(), username: newEntityName })

export const signedUp = z.object({ object: z.literal("organization.sign_up"), user, api_key: createdApiKey })

export type Invitation = z.infer<typeof invitation>

/** Users and teams: who is there, who belongs to what, who may no longer come in. */
import { ForAdministrators } from "../for-administrators.tsx"
import { Teams } from "./teams.tsx"
import { Users } from "./users.tsx"

export function PeopleSection() {
  return (
    <>
      <Teams />
      <ForAdministrators what="The list of all users">{() => <Users />}</ForAdministrators>
    </>
  )
}

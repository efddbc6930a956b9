/** The address names a project that is not there for whoever looks. */
import { LinkButton } from "../../components/controls/button.tsx"
import { Empty } from "../../components/states/empty.tsx"
import type { CurrentProject } from "../../shell/current-project.ts"

export function NoProject({ project }: { project: CurrentProject }) {
  return (
    <Empty
      title="There is no such project here"
      actions={
        <LinkButton kind="primary" to="/">
          Your projects
        </LinkButton>
      }
    >
      <b>{project.id}</b> was deleted, or belongs to a team that you are not in. If the name is yours, the first call
      that is sent to it makes it.
    </Empty>
  )
}

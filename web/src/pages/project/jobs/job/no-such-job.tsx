/** The address names a job that is not there. */
import { LinkButton } from "../../../../components/controls/button.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import type { CurrentProject } from "../../../../shell/current-project.ts"

export function NoSuchJob({ id, project }: { id: string; project: CurrentProject }) {
  return (
    <Empty
      title="There is no such job"
      actions={
        <LinkButton to="/$entity/$project/jobs" params={project.params}>
          All jobs
        </LinkButton>
      }
    >
      <p>
        There is no job <code>{id}</code> that you may see: it went with its model, or belongs to another team.
      </p>
    </Empty>
  )
}

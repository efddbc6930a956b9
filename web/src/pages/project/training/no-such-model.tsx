/** The address names a model that is not there. */
import { Empty } from "../../../components/states/empty.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./no-such-model.module.css"

export function NoSuchModel({ name, project }: { name: string; project: CurrentProject }) {
  return (
    <Empty title="No such model">
      <p className={styles.text}>
        There is no model <code>{name}</code> in {project.id}: it was deleted or never made.{" "}
        <TextLink to="/$entity/$project/models" params={project.params}>
          All models
        </TextLink>
      </p>
    </Empty>
  )
}

/** Models of other services: their endpoints in this project, and the keys that the operator keeps for them. */
import { useEndpoints, useProviderKeys } from "../../../../api/chat/outside-models.ts"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Status } from "../../../../components/signs/status.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { Code } from "../../../../components/text/code.tsx"
import { serverUrl } from "../../../../base-path.ts"
import { useProjectOfPage } from "../../../../shell/current-project.ts"
import { projectPath } from "../../../../url/project-path.ts"
import { SectionHead } from "../section-head.tsx"
import styles from "./outside-section.module.css"

export function OutsideSection() {
  const { id } = useProjectOfPage()
  const endpoints = useEndpoints(id)
  const keys = useProviderKeys(id)
  const names = new Set((keys.data?.keys ?? []).map(({ name }) => name))
  return (
    <>
      <SectionHead title="Models outside">
        Endpoints that speak OpenAI’s API. Their models are asked as <code>custom::endpoint::model</code>, in the
        playground, by judges and by completions.
      </SectionHead>
      <Loaded query={endpoints} what="endpoints">
        {(found) =>
          found.length === 0 ? (
            <>
              <Empty title="No endpoints">One request makes an endpoint known, with the models that it serves:</Empty>
              <div className={styles.block}>
                <Code label="Request that adds an endpoint" code={addCode(id)} />
              </div>
            </>
          ) : (
            <PlainTable
              label="Endpoints"
              heads={[
                { name: "Endpoint", className: styles.name },
                { name: "Address", className: styles.address },
                { name: "Models", className: styles.models },
                { name: "Key", className: styles.key },
              ]}
            >
              {found.map(({ name, address, keyName, models }) => (
                <tr key={name}>
                  <td className={styles.name}>{name}</td>
                  <td className={styles.address} title={address}>
                    <code>{address}</code>
                  </td>
                  <td className={styles.models} title={models.join(", ")}>
                    {models.join(", ")}
                  </td>
                  <td className={styles.key}>
                    {keyName === null ? (
                      "takes none"
                    ) : keys.data === undefined || names.has(keyName) ? (
                      keyName
                    ) : (
                      <Status of="error">{keyName} is missing</Status>
                    )}
                  </td>
                </tr>
              ))}
            </PlainTable>
          )
        }
      </Loaded>
      <SectionHead isSmall title="Keys">
        The operator keeps them in the file that <code>HEDDLE_SECRETS</code> names. They are never shown, and go to
        their own addresses alone.
      </SectionHead>
      <Loaded query={keys} what="keys">
        {({ keys: found }) =>
          found.length === 0 ? (
            <p className={styles.block}>There is no key for this team. The operator of the server adds one.</p>
          ) : (
            <PlainTable
              label="Keys of other services"
              heads={[
                { name: "Name", className: styles.name },
                { name: "Goes to", className: styles.address },
              ]}
            >
              {found.map(({ name, origins }) => (
                <tr key={name}>
                  <td className={styles.name}>{name}</td>
                  <td className={styles.address} title={origins.join(", ")}>
                    <code>{origins.join(", ")}</code>
                  </td>
                </tr>
              ))}
            </PlainTable>
          )
        }
      </Loaded>
    </>
  )
}

function addCode(projectId: string): string {
  return `curl -X PUT ${serverUrl}/v2/${projectPath(projectId)}/runtimes/agent \\
  -H "Authorization: Bearer $HEDDLE_API_KEY" -H 'content-type: application/json' -d '{
  "base_url": "https://agent.example.com/v1",
  "api_key_secret": "AGENT_KEY",
  "runtime_ids": [{"id": "support-v12"}]}'`
}

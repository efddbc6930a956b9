/** Requests that were refused lately, with the reason: why a client does not get in. */
import type { RefusedRequest } from "@heddle/server/wire/platform/refused-request.ts"
import { useRefusedRequests } from "../../../../api/organization/refused-requests.ts"
import { useSession } from "../../../../api/session.ts"
import { CopyButton } from "../../../../components/controls/copy-button.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { SectionHead } from "../section-head.tsx"
import styles from "./refused-section.module.css"

const refetchMs = 5_000

const heads = [
  { name: "Time", className: styles.time },
  { name: "Status", className: styles.status },
  { name: "Request and reason", className: styles.request },
  { name: "Client", className: styles.client },
  { name: "Request id", className: styles.id },
]

export function RefusedSection() {
  const { user } = useSession()
  const refused = useRefusedRequests({ refetchInterval: refetchMs })
  return (
    <>
      <SectionHead title="Refused requests">
        The last ones of this server since it started, newest first:{" "}
        {user.is_admin
          ? "your own, and those of senders who are not known, as they brought no key or a wrong one."
          : "your own. Those without a key, or with a wrong one, an administrator sees."}
      </SectionHead>
      <Loaded query={refused} what="refused requests">
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="None was refused">
              A client whose key or address is wrong appears here with what the server answered it.
            </Empty>
          ) : (
            <PlainTable label="Refused requests" heads={heads}>
              {data.map((request) => (
                <RefusedRow key={request.id} request={request} />
              ))}
            </PlainTable>
          )
        }
      </Loaded>
    </>
  )
}

function RefusedRow({ request }: { request: RefusedRequest }) {
  const { id, time, method, path, status, code, message, user_agent: agent, is_authenticated: hasKey } = request
  return (
    <tr>
      <td className={styles.time}>
        <Time at={time} />
      </td>
      <td className={styles.status} title={code}>
        {status}
      </td>
      <td className={styles.request}>
        <code className={styles.path}>
          {method} {path}
        </code>{" "}
        {!hasKey && <Tag kind="warn">sender not known</Tag>}
        <p className={styles.message}>{message}</p>
      </td>
      <td className={styles.client} title={agent}>
        {agent === "" ? "it does not say" : agent}
      </td>
      <td className={styles.id}>
        <CopyButton text={id} label={`Copy the request’s id ${id}`} words="Copy" isWordy />
      </td>
    </tr>
  )
}

/** The server itself: whether its parts work, its version, and under which addresses clients reach it. */
import type { ComponentCheck } from "@heddle/server/wire/training/health.ts"
import { useHealth, useServerInfo, useSystemCheck } from "../../../../api/server.ts"
import { useSession } from "../../../../api/session.ts"
import { addressOf, serverUrl } from "../../../../base-path.ts"
import { CopyButton } from "../../../../components/controls/copy-button.tsx"
import { KeyValue, KeyValues } from "../../../../components/layout/key-values.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Status } from "../../../../components/signs/status.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { Note } from "../../../../components/states/note.tsx"
import { OuterLink } from "../../../../components/text/link.tsx"
import { formatDuration } from "../../../../format/durations.ts"
import { SectionHead } from "../section-head.tsx"
import styles from "./server-section.module.css"

const refetchMs = 5_000

const heads = [
  { name: "Part", className: styles.part },
  { name: "State", className: styles.state },
  { name: "Answered in", className: styles.took },
  { name: "Reason", className: styles.reason },
]

const parts = [
  { part: "cpu_queue", name: "Reader of training data" },
  { part: "gpu_queue", name: "Engine" },
  { part: "disk", name: "Room on the disk" },
] as const

export function ServerSection() {
  const { user } = useSession()
  const info = useServerInfo()
  const health = useHealth({ refetchInterval: refetchMs })
  const check = useSystemCheck({ refetchInterval: refetchMs })
  return (
    <>
      <SectionHead title="Health">Asked anew every five seconds while this page is open.</SectionHead>
      <div className={styles.block}>
        <Loaded query={health} what="health">
          {({ status, reason }) =>
            status === "ok" ? (
              <Note kind="good" title="The server takes requests and reaches its stores." />
            ) : (
              <Note kind="warn" title="The server is degraded: it answers, but may refuse what is to be stored.">
                {reason}
              </Note>
            )
          }
        </Loaded>
      </div>
      <Loaded query={check} what="parts">
        {(found) => (
          <PlainTable label="Parts of the server" heads={heads}>
            <PartRow name="Catalog" check={{ success: found.database, duration: null, error: null }} />
            {parts.map(({ part, name }) => (
              <PartRow key={part} name={name} check={found[part]} />
            ))}
            {found.engines.length > 1 &&
              found.engines.map((engine, place) => (
                // They have no other name here, and keep their order.
                <PartRow key={place} name={`Engine ${place + 1} of ${found.engines.length}`} check={engine} />
              ))}
          </PlainTable>
        )}
      </Loaded>
      <SectionHead title="Addresses" isSmall />
      <div className={styles.block}>
        <KeyValues>
          <KeyValue name="Version">{info.data?.trace_server_version ?? (info.error ? "not known" : "…")}</KeyValue>
          <KeyValue name="OpenAI, ART">
            <Address of={`${serverUrl}/v1`} />
          </KeyValue>
          <KeyValue name="Weave, wandb">
            <Address of={serverUrl} />
          </KeyValue>
          <KeyValue name="API reference">
            <OuterLink href={addressOf("/docs/")}>every call, with an example</OuterLink>
          </KeyValue>
          <KeyValue name="Metrics">
            {user.is_admin ? (
              <OuterLink href={addressOf("/metrics")}>queues, memory, processor time, for Prometheus</OuterLink>
            ) : (
              "for administrators"
            )}
          </KeyValue>
        </KeyValues>
      </div>
    </>
  )
}

function Address({ of: address }: { of: string }) {
  return (
    <span className={styles.address}>
      <code>{address}</code> <CopyButton text={address} label={`Copy ${address}`} />
    </span>
  )
}

interface PartRowProps {
  name: string
  check: Omit<ComponentCheck, "duration"> & { duration: number | null }
}

function PartRow({ name, check: { success, duration, error } }: PartRowProps) {
  return (
    <tr>
      <td className={styles.part}>{name}</td>
      <td className={styles.state}>
        <Status of={success ? "ok" : "error"}>{success ? "works" : "fails"}</Status>
      </td>
      <td className={styles.took}>{duration !== null && formatDuration(duration * 1000)}</td>
      <td className={styles.reason} title={error ?? undefined}>
        {error}
      </td>
    </tr>
  )
}

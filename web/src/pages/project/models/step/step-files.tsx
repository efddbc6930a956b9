/** The adapter as PEFT reads it, to take along: whole as a tar file, or file by file. */
import type { ListedModel } from "@heddle/server/wire/training/model.ts"
import { useCheckpointFiles } from "../../../../api/training/training.ts"
import { addressOf } from "../../../../base-path.ts"
import { CopyButton } from "../../../../components/controls/copy-button.tsx"
import { DownloadButton } from "../../../../components/controls/download-button.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { ShortId } from "../../../../components/signs/figures.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { formatBytes } from "../../../../format/sizes.ts"
import styles from "./step-files.module.css"

const heads = [
  { name: "File", className: styles.file },
  { name: "Size", className: styles.size },
  { name: "SHA-256", className: styles.digest },
]

export function StepFiles({ model, step }: { model: ListedModel; step: number }) {
  const files = useCheckpointFiles(model.id, step)
  // Less than the checkpoint, with which the state of its optimizer lies.
  const bytes = files.data?.data.reduce((sum, { size_bytes: size }) => sum + size, 0)
  const path = `/v1/preview/models/${encodeURIComponent(model.id)}/checkpoints/${step}`
  return (
    <section className={styles.files} aria-label="Files">
      <div className={styles.head}>
        <h3 className={styles.title}>Take it along</h3>
        <DownloadButton size="small" href={addressOf(`${path}/download`)}>
          {bytes === undefined ? "Download tar" : `Download tar, ${formatBytes(bytes)}`}
        </DownloadButton>
      </div>
      <p className={styles.note}>
        A LoRA adapter in the folder format of PEFT. It fits only <code>{model.base_model}</code>.
      </p>
      <Loaded query={files} what="files">
        {({ data }) => (
          <PlainTable label={`Files of step ${step}`} heads={heads}>
            {data.map(({ filename, size_bytes, sha256 }) => (
              <tr key={filename}>
                <td className={styles.file} title={filename}>
                  <a href={addressOf(`${path}/files/${filename}`)} download>
                    {filename}
                  </a>
                </td>
                <td className={styles.size}>{formatBytes(size_bytes)}</td>
                <td className={styles.digest}>
                  <ShortId of={sha256} /> <CopyButton text={sha256} label={`Copy the SHA-256 of ${filename}`} />
                </td>
              </tr>
            ))}
          </PlainTable>
        )}
      </Loaded>
    </section>
  )
}

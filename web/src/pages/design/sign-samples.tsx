import { Thread } from "../../components/layout/thread.tsx"
import { Avatar } from "../../components/signs/avatar.tsx"
import { ComparisonBar } from "../../components/signs/comparison-bar.tsx"
import { Delta } from "../../components/signs/delta.tsx"
import { Count, ShortId } from "../../components/signs/figures.tsx"
import { Heat, type Ramp } from "../../components/signs/heat.tsx"
import { LiveDot } from "../../components/signs/live-dot.tsx"
import { Status, type StatusKind } from "../../components/signs/status.tsx"
import { Tag } from "../../components/signs/tag.tsx"
import { Time } from "../../components/signs/time.tsx"
import { KeyValue, KeyValues } from "../../components/layout/key-values.tsx"
import { formatDuration } from "../../format/durations.ts"
import { formatMoney } from "../../format/money.ts"
import { formatCell, formatChange, formatNumber, formatShare } from "../../format/numbers.ts"
import { formatBytes } from "../../format/sizes.ts"
import { Line, Sample } from "./sample.tsx"

const kinds: StatusKind[] = [
  "ok",
  "error",
  "running",
  "queued",
  "paused",
  "succeeded",
  "failed",
  "cancelled",
  "warning",
]

const ramps: { ramp: Ramp; values: number[]; text: (value: number) => string }[] = [
  { ramp: "reward", values: [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1], text: (value) => formatCell(value) },
  { ramp: "surprise", values: [0, 0.6, 1.2, 1.8, 2.4, 3, 3.7], text: (value) => formatNumber(value) },
  { ramp: "advantage", values: [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2], text: (value) => formatChange(value, 1) },
  { ramp: "ratio", values: [0.72, 0.78, 0.85, 0.92, 1, 1.09, 1.18, 1.29, 1.4], text: (value) => formatNumber(value) },
]

/** Far enough from now to be shown as a date, whenever the page is opened. */
const someTime = "2026-01-02T03:04:05.123Z"

export function SignSamples() {
  return (
    <>
      <Sample title="Status: icon, word, colour">
        <Line>
          {kinds.map((kind) => (
            <Status key={kind} of={kind} />
          ))}
        </Line>
        <Line>
          <Tag>plain</Tag>
          <Tag kind="alias">production</Tag>
          <Tag kind="good">better</Tag>
          <Tag kind="bad">worse</Tag>
          <Tag kind="warn">partial</Tag>
          <Tag kind="accent">new</Tag>
          <Tag isMono>step42</Tag>
        </Line>
        <Line>
          <LiveDot /> live <LiveDot kind="accent" /> waiting <Avatar name="Mara Lindqvist" /> <Avatar name="admin" />
        </Line>
      </Sample>
      <Sample title="Changes: a colour only when it is sure">
        <Line>
          <Delta value={-0.11} interval={[-0.19, -0.03]} better="up" />
          <Delta value={0.06} interval={[0.02, 0.1]} better="up" />
          <Delta value={0.01} interval={[-0.02, 0.04]} better="up" />
          <Delta value={0} />
          <Delta value={-0.4} interval={[-0.6, -0.2]} better="down" />
        </Line>
        <ComparisonBar better={41} same={259} worse={12} />
        <Thread
          stops={[
            { station: "trace", label: "212 calls" },
            { station: "label", label: "Refund tone", isLive: true },
            { station: "train", label: "job 43", isHere: true },
            { station: "serve", label: "step 43" },
          ]}
        />
      </Sample>
      <Sample title="Numbers, times and ids">
        <KeyValues>
          <KeyValue name="counts">
            <Count of={8630} /> · <Count of={58_234} /> · <Count of={212} isWhole={false} />
          </KeyValue>
          <KeyValue name="shares">{formatShare(0.907)}</KeyValue>
          <KeyValue name="durations">
            {formatDuration(568)} · {formatDuration(4021)} · {formatDuration(171_000)}
          </KeyValue>
          <KeyValue name="sizes">
            {formatBytes(12_412)} · {formatBytes(66e6)}
          </KeyValue>
          <KeyValue name="costs">
            {formatMoney(0.0041)} · {formatMoney(94.1)} · {formatMoney(null)}
          </KeyValue>
          <KeyValue name="times">
            <Time at={someTime} /> · <Time at={someTime} show="clock" />
          </KeyValue>
          <KeyValue name="ids">
            <ShortId of="019aa2f1-7c3e-7000-8000-00000000c04e" />
          </KeyValue>
        </KeyValues>
      </Sample>
      <Sample title="Ramps: one meaning each">
        {ramps.map(({ ramp, values, text }) => (
          <Line key={ramp}>
            {values.map((value) => (
              <Heat key={value} ramp={ramp} value={value} text={text(value)} />
            ))}
            {ramp}
          </Line>
        ))}
      </Sample>
    </>
  )
}

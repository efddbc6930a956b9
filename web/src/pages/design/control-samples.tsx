import { Plus, Settings } from "lucide-react"
import { lazy, Suspense, useState } from "react"
import { Button } from "../../components/controls/button.tsx"
import { CopyButton } from "../../components/controls/copy-button.tsx"
import { Checkbox, Radio, SelectField, TextField } from "../../components/controls/field.tsx"
import { Segmented } from "../../components/controls/segmented.tsx"
import { Tabs } from "../../components/layout/tabs.tsx"
import { Keys } from "../../components/signs/keys.tsx"
import { Line, Sample } from "./sample.tsx"

const SampleDialog = lazy(() => import("./sample-dialog.tsx").then(({ SampleDialog: loaded }) => ({ default: loaded })))
const SampleMenu = lazy(() => import("./sample-menu.tsx").then(({ SampleMenu: loaded }) => ({ default: loaded })))

export function ControlSamples() {
  const [axis, setAxis] = useState<"step" | "time">("step")
  const [tab, setTab] = useState<"chat" | "raw">("chat")
  const [isOpen, setOpen] = useState(false)
  const [isOn, setOn] = useState(true)
  return (
    <>
      <Sample title="Buttons: one primary a screen">
        <Line>
          <Button kind="primary">Primary</Button>
          <Button icon={Plus}>Default</Button>
          <Button kind="quiet">Quiet</Button>
          <Button kind="danger">Delete</Button>
          <Button disabled>Not now</Button>
          <Button isOn={isOn} onClick={() => setOn(!isOn)}>
            Switch
          </Button>
          <Button size="small">Small</Button>
          <Button icon={Settings} aria-label="Settings" />
          <Button keys="c">Compare</Button>
        </Line>
        <Line>
          <CopyButton text="copied" isWordy />
          <Button onClick={() => setOpen(true)}>Open a dialog</Button>
          <Suspense>
            <SampleMenu />
          </Suspense>
          <Keys of="g o" /> <Keys of="mod+k" /> <Keys of="X" />
        </Line>
        <Suspense>{isOpen && <SampleDialog onClose={() => setOpen(false)} />}</Suspense>
      </Sample>
      <Sample title="Fields, with what is wrong with them">
        <TextField
          label="Learning rate"
          isMono
          defaultValue="5e-6"
          hint="A number, or a list with one for each batch"
        />
        <TextField label="Name" defaultValue="a/b" error="A name has no /." />
        <SelectField label="Base model" defaultValue="heddle/tiny">
          <option>heddle/tiny</option>
          <option>Qwen/Qwen3-0.6B</option>
        </SelectField>
        <TextField label="Not yours to change" defaultValue="local" disabled />
      </Sample>
      <Sample title="Choices">
        <Line>
          <Segmented
            label="Horizontal axis"
            value={axis}
            onChange={setAxis}
            segments={[
              { value: "step", label: "Step" },
              { value: "time", label: "Time" },
            ]}
          />
          <Checkbox label="Fold repeats" defaultChecked />
          <Checkbox label="Off" />
          <Radio label="SFT" name="design-mode" defaultChecked />
          <Radio label="RL" name="design-mode" />
        </Line>
        <Tabs
          label="Parts of a span"
          open={tab}
          onOpen={setTab}
          tabs={[
            { id: "chat", label: "Chat" },
            { id: "raw", label: "Raw", count: "12.4 KB" },
          ]}
        >
          <p>{tab === "chat" ? "What was said." : "As it came."}</p>
        </Tabs>
      </Sample>
    </>
  )
}

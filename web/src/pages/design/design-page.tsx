/** Every component in its states, in one place: for whoever builds a page, and for the tests of colours and readers. */
import { PageBar } from "../../components/layout/page-bar.tsx"
import { ChartSamples } from "./chart-samples.tsx"
import { ControlSamples } from "./control-samples.tsx"
import { DataSamples } from "./data-samples.tsx"
import styles from "./design-page.module.css"
import { SignSamples } from "./sign-samples.tsx"
import { StateSamples } from "./state-samples.tsx"
import { TextSamples } from "./text-samples.tsx"

export function DesignPage() {
  return (
    <>
      <PageBar title="States and components" aside="not a page of the product: what every page shares" />
      <div className={styles.gallery}>
        <StateSamples />
        <ControlSamples />
        <SignSamples />
        <TextSamples />
        <ChartSamples />
        <DataSamples />
      </div>
    </>
  )
}

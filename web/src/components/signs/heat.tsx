/** A number on the ground of its ramp. The number is always there: the colour only makes it quick to see. */
import styles from "./heat.module.css"

export type Ramp = "reward" | "surprise" | "advantage" | "ratio"

interface HeatProps {
  ramp: Ramp
  value: number
  text: string
}

export function Heat({ ramp, value, text }: HeatProps) {
  const { ground, ink } = rampColors(ramp, value)
  return (
    <span className={styles.heat} style={{ background: ground, color: ink }}>
      {text}
    </span>
  )
}

/** Custom properties of the step that a value falls on. */
export function rampColors(ramp: Ramp, value: number): { ground: string; ink: string } {
  switch (ramp) {
    case "reward": {
      const step = clamp(Math.round(value * 8), 0, 8)
      return { ground: `var(--reward-${step})`, ink: `var(--reward-${step}-ink)` }
    }
    case "surprise":
      return { ground: `var(--surprise-${clamp(Math.round((value / 3.7) * 6), 0, 6)})`, ink: "var(--ink)" }
    case "advantage":
      return { ground: `var(--advantage-${diverging(value * 2)})`, ink: "var(--ink)" }
    case "ratio":
      return { ground: `var(--ratio-${diverging((Math.log(value) / Math.log(1.4)) * 4)})`, ink: "var(--ink)" }
  }
}

/** `n4` … `0` … `p4` */
function diverging(value: number): string {
  const step = clamp(Math.round(value), -4, 4)
  return step === 0 ? "0" : `${step < 0 ? "n" : "p"}${Math.abs(step)}`
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}

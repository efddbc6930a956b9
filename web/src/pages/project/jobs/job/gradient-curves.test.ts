import type { Event } from "@heddle/server/wire/training/job.ts"
import { expect, test } from "vitest"
import { gradientCurves, trainedTokens } from "./gradient-curves.ts"

const event = (type: Event["type"], data: Record<string, unknown> = {}): Event => ({
  id: "",
  type,
  data,
  created_at: "2026-01-01T00:00:00.000Z",
})

test("by the number of the gradient step; other events are no points", () => {
  const curves = gradientCurves([
    event("training_started", { num_sequences: 2 }),
    event("gradient_step", { loss: 2, num_trainable_tokens: 30 }),
    event("gradient_step", { loss: 1, num_trainable_tokens: 12, kl: 0.5 }),
    event("training_ended"),
  ])
  expect(curves).toEqual([
    { metric: "loss", x: [1, 2], y: [2, 1] },
    { metric: "num_trainable_tokens", x: [1, 2], y: [30, 12] },
    { metric: "kl", x: [2], y: [0.5] },
  ])
  expect(trainedTokens(curves)).toBe(42)
  expect(trainedTokens([])).toBeNull()
})

/**
 * Makes eight different adapters of one base model through Heddle's public API, with one RL job each.
 * The learning rate is far too high on purpose, so that every adapter clearly changes the model's answers.
 */
import type { BaseModel } from "./base-models.ts"
import type { HeddleServer } from "./heddle-server.ts"
import {
  checkpointFolder,
  checkpointName,
  register,
  sampleChoices,
  submitJob,
  trajectoryGroup,
  waitForEvents,
} from "./heddle-training.ts"
import { progress } from "./measure.ts"

export interface Adapter {
  /** Its name at the peers. */
  alias: string
  /** Its name at Heddle. */
  model: string
  /** PEFT folder. */
  folder: string
}

const LEARNING_RATE = 0.02

export async function makeAdapters(
  server: HeddleServer,
  dataDir: string,
  base: BaseModel,
  count: number,
): Promise<Adapter[]> {
  const adapters: Adapter[] = []
  for (let index = 0; index < count; index++) {
    const model = await register(server, `bench-${index}`, base.name)
    const content = `question ${index}`
    const choices = await sampleChoices(server, checkpointName(model, 0), content, {
      n: 4,
      max_tokens: 24,
      seed: index,
    })
    const group = trajectoryGroup(content, choices, [1, 0.5, 0.25, 0])
    const job = await submitJob(server, model, [group], { learning_rate: LEARNING_RATE })
    await waitForEvents(server, job.id, "training_ended", 50)
    adapters.push({
      alias: `a${index}`,
      model: checkpointName(model, 1),
      folder: checkpointFolder(dataDir, model, 1),
    })
  }
  progress(`${count} adapters trained on ${base.name}`)
  return adapters
}

/** Calls about the engine itself and the base models it holds. */
import { z } from "zod"

/** `hello`: first call on a connection. */
export const helloParams = z.object({ protocol: z.int(), token: z.string().nullable() })
export const helloResult = z.object({
  protocol: z.int(),
  engine_version: z.string(),
  device: z.string(),
  device_name: z.string(),
  torch_version: z.string(),
  /** Largest LoRA rank a slot takes. */
  max_lora_rank: z.int(),
  /** Most choices that the batch of a base model has at a time. */
  max_rows: z.int().min(1).optional(),
  /** Memory of the device, or of the machine where that is a CPU. */
  memory_bytes: z.int().min(1).optional(),
})

/** Names a base model. `path` is the folder of `heddle/tiny` or a local folder; null means the model hub or its cache. */
export const baseRef = z.object({ name: z.string(), path: z.string().nullable() })

/** `base.resolve`: find the model's files and read its description, without loading weights. */
export const baseResolveParams = z.object({ base: baseRef })
export const baseDescription = z.object({
  name: z.string(),
  path: z.string(),
  architecture: z.string(),
  vocab_size: z.int(),
  max_model_len: z.int(),
  /** Number format that this engine computes the model in. */
  dtype: z.enum(["fp32", "bf16"]),
  /** SHA-256 over config, tokenizer and chat template; changes when prompts would render to other ids. */
  fingerprint: z.string(),
})

/** `shutdown`: finish running chats, park jobs at their last gradient step, write snapshots, exit. */
export const shutdownParams = z.object({ drain_s: z.number() })

export type HelloResult = z.infer<typeof helloResult>
export type BaseRef = z.infer<typeof baseRef>
export type BaseDescription = z.infer<typeof baseDescription>

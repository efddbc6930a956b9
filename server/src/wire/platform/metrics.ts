/** Metrics for a monitoring system, in the text format of Prometheus. */
import { z } from "zod"

export const metricsText = z.string().describe("One line for each metric, after two lines that say what it is.")

import { z } from "zod"

/** Any JSON value. One schema for all, so that the API's document describes it once. */
export const jsonValue = z.json()

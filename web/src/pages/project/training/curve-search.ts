import { searchChoice, searchNumber } from "../../../url/search.ts"

/** The part of an address that every page of curves has. */
export const curveKeys = {
  /** By step unless it says otherwise; runs stand over what the program defined first. */
  x: searchChoice(["step", "time"]),
  /** Weight of what came before, below 1. */
  smooth: searchNumber,
  /** The part of x that is shown. */
  x0: searchNumber,
  x1: searchNumber,
}

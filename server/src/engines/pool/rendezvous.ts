/**
 * Which of several places a key belongs to, such that few keys move when a place comes or goes: rendezvous hashing (Thaler
 * and Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM Transactions on Networking 6(1), 1998), with
 * weights by the logarithmic method (Schindelhauer and Schomaker, "Weighted distributed hash tables", SPAA 2005).
 */
import { hash } from "node:crypto"

const bits = 48

/** The places by preference for `key`, the best first; a place of twice the weight is the best one of twice as many keys. */
export function byRendezvous<Place extends { name: string }>(
  places: readonly Place[],
  key: string,
  weightOf: (place: Place) => number,
): Place[] {
  const scored = places.map((place) => ({ place, score: weightOf(place) / -Math.log(uniform(key, place.name)) }))
  return scored.toSorted((one, other) => other.score - one.score).map(({ place }) => place)
}

/** A number between 0 and 1, never either, that is always the same for `key` and `name`. */
function uniform(key: string, name: string): number {
  const digest = Number.parseInt(hash("sha256", JSON.stringify([key, name]), "hex").slice(0, bits / 4), 16)
  return (digest + 0.5) / 2 ** bits
}

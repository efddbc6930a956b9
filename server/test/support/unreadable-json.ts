import { JsonScanner } from "../../src/json/json-scanner.ts"

/** True for JSON with something that `JsonScanner.sawUnreadable` reports. @throws {JsonTextError} */
export function holdsUnreadable(text: string): boolean {
  const scanner = new JsonScanner(Buffer.from(text))
  scanner.skip()
  return scanner.sawUnreadable
}

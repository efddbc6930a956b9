import { JsonScanner } from "../../src/json/json-scanner.ts"

/** Whether the JSON text holds what makes `JsonScanner.sawUnreadable`. @throws {JsonTextError} */
export function holdsUnreadable(text: string): boolean {
  const scanner = new JsonScanner(Buffer.from(text))
  scanner.skip()
  return scanner.sawUnreadable
}

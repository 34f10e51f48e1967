import type { AppContext } from '#context'

/** What is looked at when routes are declared. */
const KNOWN: ReadonlyMap<string | symbol, unknown> = new Map([
  ['operatorKey', ''],
  ['operator', undefined],
])

/** A context in which routes can be declared, and nothing done. */
export function declaringContext(): AppContext {
  const part: object = new Proxy(() => part, {
    get: (_part, name) => (KNOWN.has(name) ? KNOWN.get(name) : part),
    apply: () => part,
    construct: () => part,
  })
  return part as AppContext
}

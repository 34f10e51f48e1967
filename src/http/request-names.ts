import { type TObject, KindGuard } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { AppError, invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { didYouMean } from '#base/did-you-mean.ts'
import { schemaFaults } from '#base/schema-faults.ts'

const NO_FIELDS = ClosedObject({})

/** What a request may name in its query and its body, where the schema of its route does not see to it. */
export class RequestNames {
  readonly #query: TObject['properties']
  readonly #takesFields: boolean

  /** `route` is Elysia's declaration of it. */
  constructor(route: { readonly query?: unknown; readonly body?: unknown }) {
    const { query, body } = route
    this.#query = KindGuard.IsObject(query) ? query.properties : {}
    this.#takesFields = body !== undefined
  }

  /** Refuses a parameter that the route does not know, and one that is given twice where once is meant. */
  checkQuery(url: string): void {
    const start = url.indexOf('?')
    if (start === -1) return
    const seen = new Set<string>()
    for (const name of new URLSearchParams(url.slice(start)).keys()) {
      const schema = Object.hasOwn(this.#query, name) ? this.#query[name] : undefined
      if (schema === undefined) throw this.#unknown(name)
      if (seen.has(name) && schema['repeatable'] !== true) throw invalid(name, 'is given twice')
      seen.add(name)
    }
  }

  /** Refuses fields in the body of a route that takes none; a body without any is no matter. */
  checkBody(body: unknown): void {
    if (this.#takesFields || body === undefined) return
    const details = schemaFaults(Value.Errors(NO_FIELDS, body))
    const [first] = details
    if (first === undefined) return
    throw new AppError('ValidationError', `${first.field}: ${first.message}`, { details })
  }

  #unknown(name: string): AppError {
    const meant = didYouMean(name, Object.keys(this.#query))
    const hint = meant === undefined ? '' : `: did you mean "${meant}"?`
    return invalid(name.slice(0, 100), `is not a known parameter${hint}`)
  }
}

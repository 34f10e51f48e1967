import type { AdminRoutes } from './admin-routes.ts'
import type { CallOptions } from './request.ts'

/** A call of the admin API by method and path; what it takes and gives is the route's own declaration. */
export type AdminClient = {
  readonly [Method in keyof AdminRoutes]: <Path extends keyof AdminRoutes[Method]>(
    path: Path,
    ...input: InputOf<AdminRoutes[Method][Path]>
  ) => Promise<ResponseOf<AdminRoutes[Method][Path]>>
}

/** What a call takes beside its path. */
export type InputOf<Route> =
  Partial<PartsOf<Route>> extends PartsOf<Route>
    ? [input?: PartsOf<Route> & CallOptions]
    : [input: PartsOf<Route> & CallOptions]

type PartsOf<Route> = {
  readonly [Part in keyof Route as Part extends 'response' ? never : Part]: Part extends 'query'
    ? QueryOf<Route[Part]>
    : Route[Part]
}

/** In an address all is text: numbers and booleans are written for the caller. */
type QueryOf<Query> = {
  readonly [Name in keyof Query]:
    | Query[Name]
    | (string extends Query[Name] ? number | boolean : never)
    | undefined
}

export type ResponseOf<Route> = Route extends { readonly response: infer Answer } ? Answer : never

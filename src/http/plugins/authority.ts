import type { Role } from '#identity/actor.ts'

/** What a route declares about its callers; the route table test reads it back from `detail`. */
export type Authority = 'open' | 'operator' | 'signed-url' | 'visitor' | `role:${Role}`

export interface AuthorityDetail {
  readonly 'x-authority': Authority
  /** Why a route needs no caller. */
  readonly 'x-open'?: string
  /** For the OpenAPI document. */
  readonly description?: string
}

/** Of the path, as they were sent: nothing has checked them. */
export type PathParams = Readonly<Record<string, unknown>> | undefined

interface Entering {
  readonly request: Request
  readonly params: PathParams
}

/** Marks a route in the table. For a route that admits its callers itself; the others use a macro. */
export const authority = (name: Authority, why?: string): AuthorityDetail =>
  why === undefined
    ? { 'x-authority': name }
    : { 'x-authority': name, 'x-open': why, description: why }

/**
 * The hooks of a macro that admits callers. Elysia runs `resolve` after validation, so that a stranger would learn the
 * schema first: admission runs in `parse` (before the body is read) or `transform` (no body), `resolve` only hands it on.
 */
export function admission<Admitted extends object>(
  detail: AuthorityDetail,
  admit: (request: Request, params: PathParams) => Promise<Admitted>,
  /** What the route takes for its body; undefined leaves it to the next parser. */
  readBody: (request: Request) => Promise<unknown> = leaveBody,
) {
  const admitted = new WeakMap<Request, Admitted>()
  const enter = async ({ request, params }: Entering): Promise<void> => {
    if (!admitted.has(request)) admitted.set(request, await admit(request, params))
  }
  return {
    detail,
    async parse({ request, params }: Entering): Promise<unknown> {
      await enter({ request, params })
      return readBody(request)
    },
    transform: enter,
    resolve({ request }: { request: Request }): Admitted {
      const caller = admitted.get(request)
      if (!caller) throw new Error('The route ran before its caller was admitted')
      return caller
    },
  }
}

const leaveBody = (): Promise<undefined> => Promise.resolve(undefined)

import type { Role } from '#base/actor.ts'
import type { ErrorCode } from '#base/error-status.ts'
import { readJson } from '#http/bodies/read-body.ts'
import { RequestBody, requestBodyDetail } from '#http/bodies/request-body.ts'
import { RequestNames } from '#http/request-names.ts'

import { type RouteChanges, changesDetail } from './changes.ts'
import { StepUpRule } from './effects.ts'
import { type ResponseKind, responseDetail } from './response-kinds.ts'

/** What a route declares about its callers; the route table test reads it back from `detail`. */
export type Authority =
  | 'open'
  | 'operator'
  | 'signed-url'
  | 'visitor'
  | `role:${Role}`
  /** With a deploy token as git's password. */
  | 'repository'
  /** The operator as well. Scopes of which one suffices are separated by `|`. */
  | `deploy-token:${string}`

export interface AuthorityDetail {
  readonly 'x-authority': Authority
  /** Why a route needs no caller. */
  readonly 'x-open'?: string
  /** One declaration is mounted for admins of a site and for the operator. */
  readonly 'x-mount'?: 'both'
  /** For the OpenAPI document. */
  readonly description?: string
}

/**
 * Whose requests may carry query parameters that the route does not know: links get some on their way through mails and pages,
 * and OAuth wants them ignored (RFC 6749, section 3.1).
 */
const FORGIVING: readonly Authority[] = ['open', 'signed-url', 'visitor']

/** The parameters of the path as they were sent: nothing has checked them. */
export type PathParams = Readonly<Record<string, unknown>> | undefined

/**
 * Elysia's context of one request; what admission found is kept on it until `resolve` hands it to the route. A hook that passes
 * the context on as a whole would make Elysia parse cookies and copy headers for each request.
 */
interface CallContext<Admitted> {
  readonly request: Request
  readonly params: PathParams
  admitted?: Admitted | undefined
}

/** What `resolve` reads of it. */
export type ResolveContext<Admitted> = Pick<CallContext<Admitted>, 'params' | 'admitted'>

/** Marks a route in the table. For a route that admits its callers itself; the others use a macro. */
export const authority = (name: Authority, why?: string): AuthorityDetail =>
  why === undefined
    ? { 'x-authority': name }
    : { 'x-authority': name, 'x-open': why, description: why }

/**
 * What a route declares beside its authority. `changes: …`: what it changes, and what the audit trail says of that; each route that
 * changes something has it.
 * `requestBody: …`: another body than its family takes.
 * `summary: …`: what it does, as an imperative and its object ("Create an alias"). `description: …`: what else a caller should know.
 * `responds: …`: what it responds with that is not JSON, instead of the schema in `response` or beside it.
 * `errors: …`: the codes that its services respond with. Those that follow from the rest of the declaration are not listed.
 * `idempotent: 'Idempotency-Key'`: a repeated request with the same key gets the first response again.
 */
export const routeMacro = {
  changes: (_changes: RouteChanges) => ({}),
  requestBody: (_body: RequestBody) => ({}),
  responds: (_kind: ResponseKind) => ({}),
  summary: (_text: string) => ({}),
  description: (_text: string) => ({}),
  errors: (_codes: readonly ErrorCode[]) => ({}),
  idempotent: (_header: 'Idempotency-Key') => ({}),
}

interface Declared {
  readonly changes?: RouteChanges
  readonly responds?: ResponseKind
  readonly summary?: string
  readonly description?: string
  readonly errors?: readonly ErrorCode[]
  readonly idempotent?: string
}

/**
 * The hooks of a macro that admits callers and then reads the body that the route declares. Elysia runs `resolve` after
 * validation, so that a stranger would learn the schema first: admission runs in `parse`, before anything of the body is read, or
 * in `transform` where a method has no body. Before admission comes only the check of the declared length.
 */
export function admission<Admitted extends object>(
  declaration: AuthorityDetail,
  familyBody: RequestBody,
  admit: (request: Request, params: PathParams, stepUp: StepUpRule) => Promise<Admitted>,
) {
  let body = familyBody
  let names = new RequestNames({})
  let stepUp = new StepUpRule()
  const refusesOthers = !FORGIVING.includes(declaration['x-authority'])
  const detail = { ...declaration, ...requestBodyDetail(body) }
  return {
    /** Gets the route, before `detail` is taken. */
    introspect(route: object): void {
      const { changes, responds, summary, description, errors, idempotent }: Declared = route
      names = new RequestNames(route)
      if (changes !== undefined) {
        stepUp = new StepUpRule(changes.effects)
        Object.assign(detail, changesDetail(changes))
      }
      if (responds !== undefined) Object.assign(detail, responseDetail(responds))
      if (summary !== undefined) Object.assign(detail, { summary })
      if (description !== undefined) Object.assign(detail, { description })
      if (errors !== undefined) Object.assign(detail, { 'x-errors': errors })
      if (idempotent !== undefined) Object.assign(detail, { 'x-idempotent': idempotent })
      if (!('requestBody' in route) || !(route.requestBody instanceof RequestBody)) return
      body = route.requestBody
      Object.assign(detail, requestBodyDetail(body))
    },
    detail,
    async parse(context: CallContext<Admitted>): Promise<unknown> {
      body.checkDeclaredLength(context.request)
      context.admitted = await admit(context.request, context.params, stepUp)
      // Null keeps Elysia's own parsers away from a body that the route reads itself.
      if (!body.isJson) return null
      const value = await readJson(context.request, body)
      names.checkBody(value)
      return value
    },
    async transform(context: CallContext<Admitted>): Promise<void> {
      context.admitted ??= await admit(context.request, context.params, stepUp)
      if (refusesOthers) names.checkQuery(context.request.url)
    },
    resolve({ admitted }: ResolveContext<Admitted>): Admitted {
      if (!admitted) throw new Error('The route ran before its caller was admitted')
      return admitted
    },
  }
}

import { KindGuard } from '@sinclair/typebox'

import type { ErrorCode } from '#base/error-status.ts'
import { RequestBody } from '#http/bodies/request-body.ts'
import type { RouteDeclaration } from '#http/route-declaration.ts'

const JSON_BODY: readonly ErrorCode[] = [
  'InvalidJson',
  'InvalidContentEncoding',
  'UnsupportedMediaType',
  'PayloadTooLarge',
]

/** What any request may get; no route lists them. */
const COMMON_ERRORS: ReadonlySet<string> = new Set<ErrorCode>([
  'InternalError',
  'ServiceUnavailable',
  'DiskFull',
  'RequestTimeout',
  'TooManyRequests',
])

/** What may not be found where a path has these segments. */
const NOT_FOUND: readonly (readonly [segments: string, code: ErrorCode])[] = [
  ['aliases/:address', 'AliasNotFound'],
  ['admin-users/:userId', 'UserNotFound'],
  ['clients/:clientId', 'ClientNotFound'],
  ['deploy-tokens/:tokenId', 'DeployTokenNotFound'],
  ['deployments/:deploymentId', 'DeploymentNotFound'],
  ['groups/:groupName', 'GroupNotFound'],
  ['iac/definitions/:profileName', 'DefinitionNotFound'],
  ['iac/jobs/:jobId', 'IacJobNotFound'],
  ['data/jobs/:jobId', 'JobNotFound'],
  ['mail-suppressions/:address', 'SuppressionNotFound'],
  ['mailbox-reports/:address', 'MailboxNotFound'],
  ['mailboxes/:address', 'MailboxNotFound'],
  ['messages/:messageId', 'MessageNotFound'],
  ['operations/:operation', 'OperationNotFound'],
  ['resources/:resourceId', 'ResourceNotFound'],
  ['runs/:runId', 'JobRunNotFound'],
  ['sessions/:sessionId', 'SessionNotFound'],
  ['submission-credentials/:credentialId', 'CredentialNotFound'],
  ['users/:sub', 'UserNotFound'],
  ['users/:userId', 'UserNotFound'],
]

/** The errors of a route: those that follow from what it declares, and those that it lists as `errors`. */
export function declaredErrors(route: RouteDeclaration): readonly ErrorCode[] {
  return [...callerErrors(route), ...pathErrors(route), ...inputErrors(route), ...listed(route)]
}

/** Whether a caller of the route can expect such an error from its declaration. */
export const declaresError = (route: RouteDeclaration, code: string): boolean =>
  COMMON_ERRORS.has(code) || declaredErrors(route).some((declared) => declared === code)

const listed = ({ detail }: RouteDeclaration): readonly ErrorCode[] =>
  (detail['x-errors'] as readonly ErrorCode[] | undefined) ?? []

function callerErrors({ detail }: RouteDeclaration): ErrorCode[] {
  const authority = String(detail['x-authority'])
  if (authority === 'open') return []
  if (authority === 'operator') return ['Unauthorized']
  if (authority.startsWith('deploy-token:')) return ['Unauthorized', 'TokenExpired', 'Forbidden']
  const effects = detail['x-effects']
  const asksForSignIn =
    detail['x-proof'] === undefined && Array.isArray(effects) && effects.length > 0
  return [
    'Unauthorized',
    'TokenExpired',
    ...(authority === 'role:user' ? [] : (['Forbidden'] as const)),
    ...(asksForSignIn ? (['RecentSignInRequired'] as const) : []),
  ]
}

function pathErrors({ method, path }: RouteDeclaration): ErrorCode[] {
  // A PUT creates what its path ends in.
  const known = method === 'PUT' ? path.replace(/\/:\w+\/?$/, '/') : `${path}/`
  const named = NOT_FOUND.filter(([segments]) => known.includes(`/${segments}/`))
  return [...siteErrors(path), ...named.map(([, code]) => code)]
}

function siteErrors(path: string): ErrorCode[] {
  if (path.startsWith('/admin')) return ['SiteNotFound', 'MisdirectedRequest']
  return path.includes('/:siteId') ? ['SiteNotFound'] : []
}

function inputErrors({ method, params, query, body, detail }: RouteDeclaration): ErrorCode[] {
  const requestBody = detail['x-request-body']
  const takesJson = requestBody instanceof RequestBody && requestBody.isJson
  const isPaged = KindGuard.IsObject(query) && 'nextToken' in query.properties
  // All but open routes refuse parameters that they do not know.
  const isChecked =
    detail['x-authority'] !== 'open' || [params, query, body].some((schema) => schema !== undefined)
  return [
    ...(isChecked ? (['ValidationError'] as const) : []),
    ...(isPaged ? (['InvalidNextToken'] as const) : []),
    ...(takesJson && method !== 'GET' ? JSON_BODY : []),
    ...(detail['x-idempotent'] === undefined ? [] : (['IdempotencyKeyReused'] as const)),
    ...(detail['x-response'] === 'refusal' ? (['RouteNotFound'] as const) : []),
  ]
}

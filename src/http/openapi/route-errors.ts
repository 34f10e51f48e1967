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

/** The errors that follow from what a route declares. What its services refuse comes beside these. */
export function derivedErrors(route: RouteDeclaration): readonly ErrorCode[] {
  return [...callerErrors(route), ...siteErrors(route), ...inputErrors(route)]
}

function callerErrors({ detail }: RouteDeclaration): ErrorCode[] {
  const authority = String(detail['x-authority'])
  if (authority === 'open') return []
  if (authority === 'operator') return ['Unauthorized']
  if (authority.startsWith('deploy-token:')) return ['Unauthorized', 'Forbidden']
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

function siteErrors({ path }: RouteDeclaration): ErrorCode[] {
  if (path.startsWith('/admin')) return ['SiteNotFound', 'MisdirectedRequest']
  return path.includes('/:siteId') ? ['SiteNotFound'] : []
}

function inputErrors({ method, params, query, body, detail }: RouteDeclaration): ErrorCode[] {
  const requestBody = detail['x-request-body']
  const takesJson = requestBody instanceof RequestBody && requestBody.isJson && body !== undefined
  const isPaged = KindGuard.IsObject(query) && 'nextToken' in query.properties
  const isChecked = [params, query, body].some((schema) => schema !== undefined)
  return [
    ...(isChecked ? (['ValidationError'] as const) : []),
    ...(isPaged ? (['InvalidNextToken'] as const) : []),
    ...(takesJson && method !== 'GET' ? JSON_BODY : []),
  ]
}

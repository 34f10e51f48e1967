import type { RouteDeclaration } from '#http/route-declaration.ts'

import type { OperationObject } from './document.ts'

interface Access {
  readonly security: OperationObject['security']
  /** A sentence about what else a caller shows. */
  readonly about: string | undefined
  readonly extensions: Readonly<Record<`x-${string}`, unknown>>
}

/** The schemes that routes of `/admin` and `/portal` ask for. */
export const SECURITY_SCHEMES = {
  adminToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token of the admin pool, of a user who has at least the role.',
  },
  operatorKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The key of the installation’s operator (`CROFT_OPERATOR_KEY`).',
  },
  deployToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A deploy token of the site that has the scope (`CROFT_DEPLOY_TOKEN`).',
  },
} as const

const RECENT_SIGN_IN = 'Asks for a sign-in of the last 15 minutes.'
const MAYBE_RECENT_SIGN_IN =
  'Asks for a sign-in of the last 15 minutes, depending on what is requested.'

/** Who may call a route, and what the audit trail says of that. */
export function accessOf({ detail }: Pick<RouteDeclaration, 'detail'>): Access {
  const authority = String(detail['x-authority'])
  const audit = detail['x-audit']
  return {
    security: securityOf(authority),
    about: stepUpOf(authority, detail),
    extensions: {
      ...callersOf(authority),
      ...(Array.isArray(audit) ? { 'x-audit-events': audit } : {}),
    },
  }
}

function securityOf(authority: string): OperationObject['security'] {
  const role = roleOf(authority)
  if (role !== undefined) return [{ adminToken: [role] }]
  const scopes = scopesOf(authority)
  if (scopes !== undefined)
    return [{ operatorKey: [] }, ...scopes.map((scope) => ({ deployToken: [scope] }))]
  if (authority === 'operator') return [{ operatorKey: [] }]
  if (authority === 'open') return []
  throw new Error(`The document has no scheme for the authority "${authority}"`)
}

function callersOf(authority: string): Access['extensions'] {
  const role = roleOf(authority)
  if (role !== undefined) return { 'x-required-role': role }
  const scopes = scopesOf(authority)
  return scopes === undefined ? {} : { 'x-deploy-token-scopes': scopes }
}

const roleOf = (authority: string): string | undefined => /^role:(.+)$/.exec(authority)?.[1]

const scopesOf = (authority: string): readonly string[] | undefined =>
  /^deploy-token:(.+)$/.exec(authority)?.[1]?.split('|')

/** A key and a proof in the request need no sign-in. */
function stepUpOf(authority: string, detail: RouteDeclaration['detail']): string | undefined {
  const effects = detail['x-effects']
  if (roleOf(authority) === undefined || detail['x-proof'] !== undefined) return undefined
  if (!Array.isArray(effects) || effects.length === 0) return undefined
  const isCertain = effects.some((effect) => !String(effect).endsWith('?'))
  return isCertain ? RECENT_SIGN_IN : MAYBE_RECENT_SIGN_IN
}

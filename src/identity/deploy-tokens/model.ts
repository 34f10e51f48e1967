import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { AppError } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'

export const MAX_DEPLOY_TOKENS = 20
const MAX_NAME_LENGTH = 100
const MAX_DAYS = 3650

/** What a deploy token may open: giving the site files, reading its log, carrying out definitions. */
const DEPLOY_TOKEN_SCOPES = ['deploy', 'logs', 'iac'] as const
export type DeployTokenScope = (typeof DEPLOY_TOKEN_SCOPES)[number]

const Scope = Type.Union([Type.Literal('deploy'), Type.Literal('logs'), Type.Literal('iac')], {
  fault: `must be one of ${DEPLOY_TOKEN_SCOPES.join(', ')}`,
})
const Scopes = Type.Array(Scope, {
  minItems: 1,
  uniqueItems: true,
  maxItems: DEPLOY_TOKEN_SCOPES.length,
})

export const DeployTokenRequest = ClosedObject({
  name: Type.String({
    minLength: 1,
    maxLength: MAX_NAME_LENGTH,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    fault: `must be a name of 1 to ${MAX_NAME_LENGTH} characters, like "GitHub Actions"`,
  }),
  /** `deploy` alone when left out. */
  scopes: Type.Optional(Scopes),
  /** It never ends by itself when left out. */
  expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_DAYS })),
})
export type DeployTokenRequest = Static<typeof DeployTokenRequest>

export const DeployTokenRecord = Type.Object(
  {
    tokenId: Type.String(),
    name: Type.String(),
    scopes: Type.Array(Scope),
    /** Id of a user of the admin pool, or `operator`. */
    createdBy: Type.String(),
    createdAt: Type.String(),
    expiresAt: Type.Union([Type.String(), Type.Null()]),
    /** To the hour; null for one that was never used. */
    lastUsedAt: Type.Union([Type.String(), Type.Null()]),
  },
  { title: 'DeployToken' },
)
export type DeployTokenRecord = Static<typeof DeployTokenRecord>

/** The token itself is shown this once. */
export const CreatedDeployToken = Type.Composite(
  [DeployTokenRecord, Type.Object({ token: Type.String() })],
  { title: 'CreatedDeployToken' },
)
export type CreatedDeployToken = Static<typeof CreatedDeployToken>

/** Who a program that holds a token speaks for. */
export interface DeployTokenHolder {
  readonly tokenId: string
  readonly name: string
  readonly scopes: readonly DeployTokenScope[]
}

/** Scopes as the database keeps them. */
export function storedScopes(value: unknown): DeployTokenScope[] {
  if (Value.Check(Scopes, value)) return value
  throw new AppError('InternalError', 'The stored scopes of a deploy token cannot be read')
}

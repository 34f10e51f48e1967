import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { schemaFaults } from '#base/schema-faults.ts'
import { canonicalEmail } from '#identity/email.ts'
import type { PoolRequest } from '#identity/pool-request.ts'

import { invalidParameter } from './cognito-error.ts'
import type { CognitoServices } from './cognito-services.ts'

/** One target of the API. The body has been parsed as JSON, and nothing more. */
export type CognitoOperation = (
  parts: CognitoServices,
  call: PoolRequest,
  body: unknown,
) => Promise<object>

/** Ignores fields that the shape does not name, as Amazon's JSON APIs do: clients send more than is used. */
export const cognitoOperation =
  <Shape extends TSchema>(
    shape: Shape,
    run: (parts: CognitoServices, call: PoolRequest, input: Static<Shape>) => Promise<object>,
  ): CognitoOperation =>
  async (parts, call, body) => {
    if (Value.Check(shape, body)) return run(parts, call, body)
    const faults = schemaFaults(Value.Errors(shape, body)).map(
      ({ field, message }) => `${field} ${message}`,
    )
    throw invalidParameter(
      `${faults.length} validation error${faults.length === 1 ? '' : 's'} detected: ${faults.join('; ')}`,
    )
  }

const MAX_USERNAME = 320
export const UsernameField = Type.String({ minLength: 1, maxLength: MAX_USERNAME })
export const PasswordField = Type.String({ minLength: 1, maxLength: 1024 })
export const CodeField = Type.String({ minLength: 1, maxLength: 64 })
export const TokenField = Type.String({ minLength: 1, maxLength: 8192 })
export const UserAttributes = Type.Array(
  Type.Object({
    Name: Type.String({ maxLength: 64 }),
    Value: Type.Optional(Type.Union([Type.String({ maxLength: 2048 }), Type.Null()])),
  }),
  { maxItems: 50 },
)
export type UserAttributes = Static<typeof UserAttributes>
/** `DEVICE_KEY` is null when there is none. */
export const AuthParameters = Type.Record(
  Type.String(),
  Type.Union([Type.String({ maxLength: 8192 }), Type.Null()]),
  { maxProperties: 32 },
)
export type AuthParameters = Static<typeof AuthParameters>

/** How a client names itself. It has no secret, so a `SecretHash` belongs to another client. */
export const ClientFields = {
  ClientId: Type.String({ minLength: 1, maxLength: 128 }),
  SecretHash: Type.Optional(Type.Union([Type.String({ maxLength: 128 }), Type.Null()])),
}

export function requiredParameter(parameters: AuthParameters, name: string): string {
  const value = parameters[name]
  if (value === undefined || value === null || value === '') {
    throw invalidParameter(`Missing required parameter ${name}`)
  }
  return value
}

/** In the canonical spelling. */
export function usernameParameter(parameters: AuthParameters): string {
  const username = requiredParameter(parameters, 'USERNAME')
  if (username.length > MAX_USERNAME) throw invalidParameter('USERNAME is too long')
  return canonicalEmail(username)
}

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { schemaFaults } from '#base/schema-faults.ts'
import { canonicalEmail } from '#identity/email.ts'

import { invalidParameter } from './cognito-error.ts'
import type { Call, CognitoParts } from './parts.ts'

/** One target of the API. The body has been parsed as JSON, and nothing more. */
export interface Operation {
  run(parts: CognitoParts, call: Call, body: unknown): Promise<object>
}

/** Fields that the shape does not name are left alone, as in all of Amazon's JSON: clients send more than we use. */
export function operation<Shape extends TSchema>(
  shape: Shape,
  run: (parts: CognitoParts, call: Call, input: Static<Shape>) => Promise<object>,
): Operation {
  return {
    async run(parts, call, body) {
      if (!Value.Check(shape, body)) {
        const words = schemaFaults(Value.Errors(shape, body)).map(
          ({ field, message }) => `${field} ${message}`,
        )
        throw invalidParameter(
          `${words.length} validation error${words.length === 1 ? '' : 's'} detected: ${words.join('; ')}`,
        )
      }
      return run(parts, call, body)
    },
  }
}

const MAX_USERNAME = 320
export const Username = Type.String({ minLength: 1, maxLength: MAX_USERNAME })
export const Password = Type.String({ minLength: 1, maxLength: 1024 })
export const Code = Type.String({ minLength: 1, maxLength: 64 })
export const Token = Type.String({ minLength: 1, maxLength: 8192 })
/** `DEVICE_KEY` is null when there is none. */
export const AuthParameters = Type.Record(
  Type.String(),
  Type.Union([Type.String({ maxLength: 8192 }), Type.Null()]),
  { maxProperties: 32 },
)
export type AuthParameters = Static<typeof AuthParameters>

/** Of whoever asks as a client: it has no secret, so that a hash with one is of another client. */
export const ClientFields = {
  ClientId: Type.String({ minLength: 1, maxLength: 128 }),
  SecretHash: Type.Optional(Type.Union([Type.String({ maxLength: 128 }), Type.Null()])),
}

export function required(parameters: AuthParameters, name: string): string {
  const value = parameters[name]
  if (value === undefined || value === null || value === '') {
    throw invalidParameter(`Missing required parameter ${name}`)
  }
  return value
}

/** In the canonical spelling. */
export function usernameIn(parameters: AuthParameters): string {
  const username = required(parameters, 'USERNAME')
  if (username.length > MAX_USERNAME) throw invalidParameter('USERNAME is too long')
  return canonicalEmail(username)
}

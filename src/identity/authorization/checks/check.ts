import type { Asked } from '#identity/authorization/asked.ts'
import type {
  AuthorizationErrorCode,
  Refusal,
} from '#identity/authorization/authorization-request.ts'

/** One rule for authorization requests: undefined when it is kept. */
export type Check = (asked: Asked) => Refusal | undefined

export const refused = (error: AuthorizationErrorCode, description: string): Refusal => ({
  error,
  description,
})

export const invalidRequest = (description: string): Refusal =>
  refused('invalid_request', description)

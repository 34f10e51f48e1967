import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { originOf } from '#http/request-origin.ts'

/** As it was typed; what a password must have is said by name when it has not. */
const Typed = Type.String({ maxLength: 1024 })
const PasswordBody = Type.Object(
  { currentPassword: Typed, newPassword: Typed },
  { additionalProperties: false },
)

/** One's own password. A new one ends every other sign-in. */
export const ownPasswordRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/profile/password' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .post(
      '/',
      async ({ site, actor, request, body }) => {
        const { pool, sub, familyId } = await context.userSessions.ownerOf(site, actor)
        const change = {
          sub,
          oldPassword: body.currentPassword,
          newPassword: body.newPassword,
          keep: familyId === undefined ? undefined : { sessionId: familyId },
        }
        await context.ownPasswords
          .change(site, pool, change, originOf(request))
          .catch((error: unknown) => Promise.reject(inWordsOfBody(error)))
        return noContent()
      },
      { role: 'user', body: PasswordBody },
    )

/** The token is good, so a wrong password is no 401: a client would take that for the end of its sign-in. */
function inWordsOfBody(error: unknown): unknown {
  if (!(error instanceof AppError)) return error
  const { code, message, cause } = error
  if (code === 'InvalidCredentials') {
    const details = [{ field: 'currentPassword', message: 'is wrong' }]
    return new AppError('InvalidPassword', message, { details, cause })
  }
  if (code !== 'InvalidPassword') return error
  const details = (error.details ?? []).map((fault) => ({ ...fault, field: 'newPassword' }))
  return new AppError('InvalidPassword', message, { details, cause })
}

import { createHash, timingSafeEqual } from 'node:crypto'

import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'

import { admission, authority } from './authority.ts'
import { jsonBody } from './json-body.ts'

/** `operator: true` on a route: the caller holds the installation's operator key. */
export const operatorAuth = (context: AppContext) => {
  const expected = digest(context.operatorKey)
  return new Elysia({ name: 'operator-auth', seed: context }).macro({
    operator: (_required: true) =>
      admission(
        authority('operator'),
        async ({ headers }) => {
          const [scheme, key] = (headers.get('authorization') ?? '').split(' ')
          const valid = timingSafeEqual(digest(key ?? ''), expected)
          if (scheme?.toLowerCase() !== 'bearer' || !valid) throw noKey()
          return { operator: true as const }
        },
        jsonBody,
      ),
  })
}

const noKey = (): AppError =>
  new AppError(
    'Unauthorized',
    'This route needs the operator key as "Authorization: Bearer …" (CROFT_OPERATOR_KEY)',
  )

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

import { createHash, timingSafeEqual } from 'node:crypto'

import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'

import { admission, authority } from './authority.ts'

/** `operator: true` on a route: the caller holds the installation's operator key. */
export const operatorAuth = (context: AppContext) => {
  const expected = digest(context.operatorKey)
  return new Elysia({ name: 'operator-auth', seed: context }).macro({
    operator: (_required: true) =>
      admission(authority('operator'), async (request) => {
        const [scheme, key] = (request.headers.get('authorization') ?? '').split(' ')
        const valid = timingSafeEqual(digest(key ?? ''), expected)
        if (scheme?.toLowerCase() !== 'bearer' || !valid) {
          throw new AppError(
            'Unauthorized',
            'This route needs the operator key as "Authorization: Bearer …" (CROFT_OPERATOR_KEY)',
          )
        }
        return { operator: true as const }
      }),
  })
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

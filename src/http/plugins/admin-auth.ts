import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { type Role, atLeast } from '#identity/actor.ts'

import { admission, authority } from './authority.ts'
import { jsonBody } from './json-body.ts'
import { siteOf } from './site.ts'

/** `role: 'admin'` on a route: the caller holds at least that role on this site. Adds `site` and `actor`. */
export const adminAuth = (context: AppContext) =>
  new Elysia({ name: 'admin-auth', seed: context }).macro({
    role: (least: Role) =>
      admission(
        authority(`role:${least}`),
        async (request) => {
          const site = await siteOf(context, request)
          const bearer = request.headers.get('authorization') ?? undefined
          const actor = await context.adminTokens.verify(site, bearer)
          if (!atLeast(actor, least)) {
            throw new AppError('Forbidden', `This route needs the role "${least}"`)
          }
          return { site, actor }
        },
        jsonBody,
      ),
  })

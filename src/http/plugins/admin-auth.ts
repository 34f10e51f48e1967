import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { type Actor, type Role, atLeast } from '#identity/actor.ts'
import type { Site } from '#sites/site.ts'

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
          const bearer = request.headers.get('authorization')
          return { site, actor: await admitAdmin(context, site, { bearer, least }) }
        },
        jsonBody,
      ),
  })

/** Who calls with that header, as they stand now; throws for whoever is not at least that. */
export async function admitAdmin(
  context: AppContext,
  site: Site,
  { bearer, least }: { readonly bearer: string | null; readonly least: Role },
): Promise<Actor> {
  const actor = await context.adminTokens.verify(site, bearer ?? undefined)
  if (atLeast(actor, least)) return actor
  throw new AppError('Forbidden', `This route needs the role "${least}"`)
}

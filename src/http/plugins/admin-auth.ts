import { Elysia } from 'elysia'

import { type Role, type UserActor, atLeast } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { type RequestBody, jsonBody } from '#http/bodies/request-body.ts'
import { originOf } from '#http/request-origin.ts'
import type { Site } from '#sites/site.ts'

import { admission, authority, routeMacro } from './authority.ts'
import { siteOf } from './site.ts'

/**
 * `role: 'admin'` on a route: the caller holds at least that role on this site, and has signed in recently where the route has effects.
 * Adds `site`, `actor`, and `by`: the actor, where they call from, and what asks for a step-up. `body` is what the routes take that name
 * no other.
 */
export const adminAuth = (context: AppContext, body: RequestBody = jsonBody()) =>
  new Elysia().macro({
    ...routeMacro,
    role: (least: Role) =>
      admission(authority(`role:${least}`), body, async (request, _params, stepUp) => {
        const site = await siteOf(context, request)
        const actor = await admitAdmin(context, site, { request, least })
        const checked = stepUp.check({ authTime: actor.signedInAt }, context.clock.now())
        return { site, actor, by: { ...actor, stepUp: checked } }
      }),
  })

/** The current state of the caller with that header; throws for a lower role. */
export async function admitAdmin(
  context: AppContext,
  site: Site,
  { request, least }: { readonly request: Request; readonly least: Role },
): Promise<UserActor> {
  return withRole(await context.adminTokens.verify(site, callOf(request)), least)
}

export const callOf = (request: Request) => ({
  authorization: request.headers.get('authorization') ?? undefined,
  origin: originOf(request),
})

/** The actor, who holds at least that role; throws `Forbidden` for any other. */
export function withRole(actor: UserActor, least: Role): UserActor {
  if (atLeast(actor, least)) return actor
  throw new AppError('Forbidden', `This route needs the role "${least}"`)
}

import { Value } from '@sinclair/typebox/value'
import { Elysia } from 'elysia'

import type { Role, UserActor } from '#base/actor.ts'
import { notFound } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { optionalJsonBody } from '#http/bodies/request-body.ts'
import { NameText } from '#http/path-params.ts'
import type { Resource } from '#runtime/resources/model.ts'
import type { Site } from '#sites/site.ts'

import { callOf, withRole } from './admin-auth.ts'
import { type PathParams, admission, authority, routeMacro } from './authority.ts'
import { siteOf } from './site.ts'

/**
 * `resourceRole: 'admin'` on a route below `…/:resourceId`: as `role`, and reads the resource in the same trip. Adds
 * `resource` to `site` and `actor`.
 */
export const resourceAuth = (context: AppContext) =>
  new Elysia().macro({
    ...routeMacro,
    resourceRole: (least: Role) =>
      admission(authority(`role:${least}`), optionalJsonBody(), async (request, params, stepUp) => {
        const found = await admitted(context, least, { request, params })
        stepUp.check({ authTime: found.actor.signedInAt }, context.clock.now())
        return found
      }),
  })

async function admitted(
  context: AppContext,
  least: Role,
  { request, params }: { readonly request: Request; readonly params: PathParams },
): Promise<{ site: Site; actor: UserActor; resource: () => Resource }> {
  const site = await siteOf(context, request)
  const asked = params?.['resourceId']
  // What is no name is refused after its sender has been admitted.
  const resourceId = Value.Check(NameText, asked) ? asked : ''
  let found: Resource | undefined
  const actor = await context.adminTokens.verify(site, callOf(request), async (subject) => {
    const read = await context.resources.getWithAccountStatus(site.siteId, {
      ...subject,
      resourceId,
    })
    found = read?.resource
    return read?.accountStatus
  })
  return {
    site,
    actor: withRole(actor, least),
    /** Throws `ResourceNotFound` when there was none. */
    resource() {
      if (found === undefined) throw notFound('Resource', resourceId)
      return found
    },
  }
}

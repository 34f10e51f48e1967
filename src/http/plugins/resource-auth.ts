import { Value } from '@sinclair/typebox/value'

import type { Role, UserActor } from '#base/actor.ts'
import { notFound } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { NameText } from '#http/path-params.ts'
import type { Resource } from '#runtime/resources/model.ts'
import type { Site } from '#sites/site.ts'

import { callOf, withRole } from './admin-auth.ts'
import type { PathParams } from './authority.ts'

interface ResourceRequest {
  readonly request: Request
  readonly params: PathParams
  readonly least: Role
}

/** Who calls, and the resource that the path names, in one trip. Throws for a lower role. */
export async function admitToResource(
  context: AppContext,
  site: Site,
  { request, params, least }: ResourceRequest,
): Promise<{ actor: UserActor; resource: () => Resource }> {
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
    actor: withRole(actor, least),
    /** Throws `ResourceNotFound` when there was none. */
    resource() {
      if (found === undefined) throw notFound('Resource', resourceId)
      return found
    },
  }
}

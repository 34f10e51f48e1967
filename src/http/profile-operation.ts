import type { Static } from '@sinclair/typebox'

import type { Actor } from '#base/actor.ts'
import type { AppContext } from '#context'
import { scopeOf } from '#http/request-scope.ts'
import type { CpuProfile } from '#runtime/profiles/cpu-profile.ts'
import type { ProfileBody } from '#runtime/profiles/service.ts'
import type { Site } from '#sites/site.ts'

interface ProfileRequest {
  readonly site: Site
  readonly params: { readonly operation: string }
  readonly body: Static<typeof ProfileBody>
  readonly request: Request
}

/** Profiles an operation; who asked for it is in the audit trail before it begins. */
export async function profileOperation(
  context: AppContext,
  { site, params: { operation }, body, request }: ProfileRequest,
  by: Actor,
): Promise<CpuProfile> {
  const detail = { operation }
  await context.securityEvents.note(site.siteId, { event: 'operation.profiled', by, detail })
  const { requestId } = scopeOf(request)
  return context.operationProfiles.profile(site, operation, { requestId, body })
}

import { Type } from '@sinclair/typebox'

import { NameText } from '#http/path-params.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import { scopeOf } from '#http/request-scope.ts'
import { CpuProfile } from '#runtime/profiles/cpu-profile.ts'
import { ProfileBody } from '#runtime/profiles/operation-profiles.ts'

/** Where the time of an operation goes. The audit trail says who asks before the operation is called. */
export const operationProfileRoutes = siteFamily(
  {
    site: '/admin/data/operations/:operation/profile',
    operator: '/operations/:operation/profile',
  },
  (routes, context) =>
    routes.post(
      '/',
      async ({ site, by, params: { operation }, body, request }) => {
        const detail = { operation }
        await context.securityEvents.note(site.siteId, { event: 'operation.profiled', by, detail })
        const { requestId } = scopeOf(request)
        return context.operationProfiles.profile(site, operation, { requestId, body })
      },
      {
        role: 'admin',
        summary: 'Profile a call of an operation',
        errors: [
          'DataRuntimeProvisioning',
          'ExecutionFailed',
          'ExecutionTimeout',
          'InvalidOperationResult',
          'MemoryLimitExceeded',
          'OperationInterrupted',
          'OperationOverloaded',
        ],
        changes: { audit: ['operation.profiled'], effects: [] },
        params: Type.Object({ operation: NameText }),
        body: ProfileBody,
        response: CpuProfile,
      },
    ),
)

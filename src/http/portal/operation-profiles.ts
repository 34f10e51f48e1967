import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { operatorAt } from '#http/operator-at.ts'
import { NameText, SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { profileOperation } from '#http/profile-operation.ts'
import { CpuProfile } from '#runtime/profiles/cpu-profile.ts'
import { ProfileBody } from '#runtime/profiles/service.ts'

const OperationPath = Type.Composite([SitePath, Type.Object({ operation: NameText })])

/** Where the time of an operation goes, for the operator. */
export const portalOperationProfileRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/operations/:operation/profile' })
    .use(operatorAuth(context))
    .post('/', async (asked) => profileOperation(context, asked, operatorAt(asked.request)), {
      siteOperator: true,
      changes: { audit: ['operation.profiled'], effects: [] },
      params: OperationPath,
      body: ProfileBody,
      response: CpuProfile,
    })

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { operatorAt } from '#http/operator-at.ts'
import { PageOf } from '#http/paging.ts'
import { NameText, SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import {
  CreatedDeployToken,
  DeployTokenRecord,
  DeployTokenRequest,
} from '#identity/deploy-tokens/model.ts'

const TokenPath = Type.Composite([SitePath, Type.Object({ tokenId: NameText })])

/** The secrets with which programs deploy a site. None of these routes takes one. */
export const portalDeployTokenRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/deploy-tokens' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ site }) => ({ items: await context.deployTokens.list(site), nextToken: null }),
      { siteOperator: true, params: SitePath, response: PageOf(DeployTokenRecord) },
    )
    .post(
      '/',
      async ({ site, request, body }) =>
        context.deployTokens.create(site, operatorAt(request), body),
      {
        siteOperator: true,
        changes: { audit: ['deploy-token.created'], effects: ['setsSecret'] },
        params: SitePath,
        body: DeployTokenRequest,
        response: CreatedDeployToken,
      },
    )
    .delete(
      '/:tokenId',
      async ({ site, request, params }) => {
        await context.deployTokens.end(site, operatorAt(request), params.tokenId)
        return noContent()
      },
      {
        siteOperator: true,
        changes: { audit: ['deploy-token.ended'], effects: [] },
        params: TokenPath,
        responds: 'no-content',
      },
    )

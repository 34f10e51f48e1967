import { Type } from '@sinclair/typebox'

import { SHORT_JSON_BYTES, jsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageOf } from '#http/paging.ts'
import { NameText } from '#http/path-params.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import {
  CreatedDeployToken,
  DeployTokenRecord,
  DeployTokenRequest,
} from '#identity/deploy-tokens/model.ts'

const TokenPath = Type.Object({ tokenId: NameText })

/** The secrets with which programs deploy the site: they run code as it, so super-admins alone make them. */
export const deployTokenRoutes = siteFamily(
  {
    site: '/admin/api/deploy-tokens',
    operator: '/deploy-tokens',
    body: jsonBody(SHORT_JSON_BYTES),
  },
  (routes, context) =>
    routes
      .get(
        '/',
        async ({ site }) => ({ items: await context.deployTokens.list(site), nextToken: null }),
        { role: 'super-admin', summary: 'List deploy tokens', response: PageOf(DeployTokenRecord) },
      )
      .post('/', async ({ site, by, body }) => context.deployTokens.create(site, by, body), {
        role: 'super-admin',
        summary: 'Create a deploy token',
        errors: ['TooManyDeployTokens'],
        changes: { audit: ['deploy-token.created'], effects: ['setsSecret'] },
        body: DeployTokenRequest,
        response: CreatedDeployToken,
      })
      .delete(
        '/:tokenId',
        async ({ site, by, params }) => {
          await context.deployTokens.end(site, by, params.tokenId)
          return noContent()
        },
        {
          role: 'super-admin',
          summary: 'Delete a deploy token',
          changes: { audit: ['deploy-token.ended'], effects: [] },
          params: TokenPath,
          responds: 'no-content',
        },
      ),
)

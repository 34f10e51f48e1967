import { Elysia } from 'elysia'

import type { AppContext } from '#context'

import { computeRoutes } from './admin-data/compute.ts'
import { groupRoutes } from './admin-data/groups.ts'
import { logRoutes } from './admin-data/logs.ts'
import { operationRoutes } from './admin-data/operations.ts'
import { resourceRoutes } from './admin-data/resources.ts'
import { usageRoutes } from './admin-data/usage.ts'
import { adminConfigRoutes } from './admin-public/config.ts'
import { dataAuthConfigRoutes } from './data/auth-config.ts'
import { dataOperationRoutes } from './data/operations.ts'
import { healthRoutes } from './health.ts'
import { objectRoutes } from './objects/routes.ts'
import { wellKnownRoutes } from './oidc/well-known.ts'
import { siteOf } from './plugins/site.ts'
import { portalAuditRoutes } from './portal/audit.ts'
import { portalDeploymentRoutes } from './portal/deployments.ts'
import { portalKeyRoutes } from './portal/keys.ts'
import { portalOutboxRoutes } from './portal/outbox.ts'
import { portalProviderRoutes } from './portal/providers.ts'
import { portalSiteRoutes } from './portal/sites.ts'
import { portalTokenRoutes } from './portal/tokens.ts'

/** Every route of the service, family by family. */
export const routes = (context: AppContext) =>
  new Elysia({ normalize: false })
    .use(healthRoutes(context))
    .use(
      objectRoutes({
        objects: context.objects,
        urls: context.objectUrls,
        siteIdOf: async (request) => (await siteOf(context, request)).siteId,
      }),
    )
    .use(wellKnownRoutes(context))
    .use(portal(context))
    .use(adminConfigRoutes(context))
    .use(adminData(context))
    .use(dataAuthConfigRoutes(context))
    .use(dataOperationRoutes(context))

const portal = (context: AppContext) =>
  new Elysia()
    .use(portalSiteRoutes(context))
    .use(portalDeploymentRoutes(context))
    .use(portalTokenRoutes(context))
    .use(portalKeyRoutes(context))
    .use(portalAuditRoutes(context))
    .use(portalOutboxRoutes(context))
    .use(portalProviderRoutes(context))

const adminData = (context: AppContext) =>
  new Elysia()
    .use(resourceRoutes(context))
    .use(operationRoutes(context))
    .use(groupRoutes(context))
    .use(computeRoutes(context))
    .use(logRoutes(context))
    .use(usageRoutes(context))

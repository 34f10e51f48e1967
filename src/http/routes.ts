import { Elysia } from 'elysia'

import type { AppContext } from '#context'

import { authEmailBrandingRoutes } from './admin-api/auth-email-branding.ts'
import { ownProfileRoutes, userProfileRoutes } from './admin-api/profile.ts'
import { ownSessionRoutes, userSessionRoutes } from './admin-api/sessions.ts'
import { adminUserRoutes, superAdminInviteRoutes } from './admin-api/users.ts'
import { computeRoutes } from './admin-data/compute.ts'
import { envVarRoutes } from './admin-data/env-vars.ts'
import { groupRoutes, groupUserRoutes } from './admin-data/groups.ts'
import { iacDefinitionRoutes } from './admin-data/iac-definitions.ts'
import { iacRoutes } from './admin-data/iac.ts'
import { jobRoutes } from './admin-data/jobs.ts'
import { logRoutes } from './admin-data/logs.ts'
import { operationRoutes } from './admin-data/operations.ts'
import { bucketActionRoutes, tableActionRoutes } from './admin-data/resource-actions.ts'
import { resourceRoutes } from './admin-data/resources.ts'
import { usageRoutes } from './admin-data/usage.ts'
import { adminConfigRoutes } from './admin-public/config.ts'
import { onboardingRoutes } from './admin-public/onboarding.ts'
import { dataAuthRoutes } from './data/auth.ts'
import { dataOperationRoutes } from './data/operations.ts'
import { healthRoutes } from './health.ts'
import { objectRoutes } from './objects/routes.ts'
import { authorizeRoutes } from './oidc/authorize.ts'
import { cognitoRoutes } from './oidc/cognito.ts'
import { confirmForgotPasswordRoutes, forgotPasswordRoutes } from './oidc/forgot-password.ts'
import { loginRoutes } from './oidc/login.ts'
import { logoutRoutes } from './oidc/logout.ts'
import { providerCallbackRoutes } from './oidc/provider.ts'
import { confirmUserRoutes, signUpRoutes } from './oidc/sign-up.ts'
import { revokeRoutes, tokenRoutes } from './oidc/token.ts'
import { userInfoRoutes } from './oidc/user-info.ts'
import { wellKnownRoutes } from './oidc/well-known.ts'
import { siteOf } from './plugins/site.ts'
import { portalAuditRoutes } from './portal/audit.ts'
import { portalAuthRoutes } from './portal/auth.ts'
import { portalDeploymentRoutes } from './portal/deployments.ts'
import { portalIacRoutes } from './portal/iac.ts'
import { portalFailedMailRoutes, portalOutboxRoutes } from './portal/outbox.ts'
import { portalSiteRoutes } from './portal/sites.ts'
import { portalTokenRoutes } from './portal/tokens.ts'
import { portalUserSessionRoutes } from './portal/user-sessions.ts'

/** Every route of the service, family by family. */
export const routes = (context: AppContext) =>
  new Elysia({ normalize: false })
    .use(healthRoutes(context))
    .use(
      objectRoutes({
        objects: context.objects,
        uploads: context.bucketQuotas,
        urls: context.objectUrls,
        siteIdOf: async (request) => (await siteOf(context, request)).siteId,
      }),
    )
    .use(wellKnownRoutes(context))
    .use(authorizationServer(context))
    .use(signInPages(context))
    .use(onboardingRoutes(context))
    .use(portal(context))
    .use(adminConfigRoutes(context))
    .use(adminApi(context))
    .use(adminData(context))
    .use(dataAuthRoutes(context))
    .use(dataOperationRoutes(context))

const authorizationServer = (context: AppContext) =>
  new Elysia()
    .use(authorizeRoutes(context))
    .use(providerCallbackRoutes(context))
    .use(tokenRoutes(context))
    .use(userInfoRoutes(context))
    .use(revokeRoutes(context))
    .use(logoutRoutes(context))
    .use(cognitoRoutes(context))

const signInPages = (context: AppContext) =>
  new Elysia()
    .use(loginRoutes(context))
    .use(signUpRoutes(context))
    .use(confirmUserRoutes(context))
    .use(forgotPasswordRoutes(context))
    .use(confirmForgotPasswordRoutes(context))

const portal = (context: AppContext) =>
  new Elysia()
    .use(portalSiteRoutes(context))
    .use(portalDeploymentRoutes(context))
    .use(portalIacRoutes(context))
    .use(portalTokenRoutes(context))
    .use(portalAuditRoutes(context))
    .use(portalAuthRoutes(context))
    .use(portalUserSessionRoutes(context))
    .use(portalOutboxRoutes(context))
    .use(portalFailedMailRoutes(context))

const adminApi = (context: AppContext) =>
  new Elysia()
    .use(adminUserRoutes(context))
    .use(userProfileRoutes(context))
    .use(ownProfileRoutes(context))
    .use(ownSessionRoutes(context))
    .use(userSessionRoutes(context))
    .use(superAdminInviteRoutes(context))
    .use(authEmailBrandingRoutes(context))

const adminData = (context: AppContext) =>
  new Elysia()
    .use(resourceRoutes(context))
    .use(tableActionRoutes(context))
    .use(bucketActionRoutes(context))
    .use(operationRoutes(context))
    .use(envVarRoutes(context))
    .use(groupRoutes(context))
    .use(groupUserRoutes(context))
    .use(computeRoutes(context))
    .use(jobRoutes(context))
    .use(iacRoutes(context))
    .use(iacDefinitionRoutes(context))
    .use(logRoutes(context))
    .use(usageRoutes(context))

import { type AnyElysia, Elysia } from 'elysia'

import type { AppContext } from '#context'

import { aliasRoutes } from './admin-api/aliases.ts'
import { authEmailBrandingRoutes } from './admin-api/auth-email-branding.ts'
import { contactRecipientRoutes } from './admin-api/contact-recipients.ts'
import { deployTokenRoutes } from './admin-api/deploy-tokens.ts'
import { forwardingRoutes } from './admin-api/forwarding.ts'
import { mailSuppressionRoutes } from './admin-api/mail-suppressions.ts'
import { mailboxOwnerRoutes, mailboxRoutes, mailboxSettingsRoutes } from './admin-api/mailboxes.ts'
import { messageStreamRoutes } from './admin-api/message-stream.ts'
import {
  messageChangeRoutes,
  messagePurgeRoutes,
  messageRoutes,
  messageSendingRoutes,
} from './admin-api/messages.ts'
import { pageBrandingRoutes } from './admin-api/page-branding.ts'
import { ownProfileRoutes, userProfileRoutes } from './admin-api/profile.ts'
import { ownSessionRoutes, userSessionRoutes } from './admin-api/sessions.ts'
import { submissionCredentialRoutes } from './admin-api/submission-credentials.ts'
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
import { visitorRoutes, visitorSessionRoutes } from './admin-data/users.ts'
import { addressChangeRoutes } from './admin-public/address-changes.ts'
import { adminConfigRoutes } from './admin-public/config.ts'
import { contactRoutes } from './admin-public/contact.ts'
import { deployWebhookRoutes } from './admin-public/deploy-webhook.ts'
import { adminEntranceRoutes } from './admin-public/entrance.ts'
import { forwardingVerificationRoutes } from './admin-public/forwarding.ts'
import { onboardingRoutes } from './admin-public/onboarding.ts'
import { siteLogoRoutes } from './admin-public/site-logo.ts'
import { dataAuthAdditionRoutes } from './data/auth-additions.ts'
import { dataAuthRoutes } from './data/auth.ts'
import { httpOperationRoutes } from './data/http-operations.ts'
import { dataOperationRoutes } from './data/operations.ts'
import { repositoryRoutes } from './git/routes.ts'
import { healthRoutes, portalDiagnosisRoutes } from './health.ts'
import type { ProcessWatch } from './metrics/installation.ts'
import { metricsRoutes } from './metrics/routes.ts'
import { objectRoutes } from './objects/routes.ts'
import { accountFormsRoutes } from './oidc/account/forms.ts'
import { accountGoogleRoutes } from './oidc/account/google.ts'
import { accountPasskeyRoutes } from './oidc/account/passkeys.ts'
import { accountRestorationRoutes } from './oidc/account/restoration.ts'
import { accountRoutes } from './oidc/account/routes.ts'
import { accountSecondFactorRoutes } from './oidc/account/second-factor.ts'
import { authorizeRoutes } from './oidc/authorize.ts'
import { clientLogoRoutes } from './oidc/client-logo.ts'
import { cognitoRoutes } from './oidc/cognito.ts'
import { consentRoutes } from './oidc/consent.ts'
import { confirmForgotPasswordRoutes, forgotPasswordRoutes } from './oidc/forgot-password.ts'
import { loginRoutes } from './oidc/login.ts'
import { formerLogoutRoutes, logoutRoutes } from './oidc/logout.ts'
import { providerCallbackRoutes } from './oidc/provider.ts'
import { secondFactorRoutes } from './oidc/second-factor/routes.ts'
import { confirmUserRoutes, signUpRoutes } from './oidc/sign-up.ts'
import { revokeRoutes, tokenRoutes } from './oidc/token.ts'
import { userInfoRoutes } from './oidc/user-info.ts'
import { wellKnownRoutes } from './oidc/well-known.ts'
import { adminDocumentRoutes, portalDocumentRoutes } from './openapi/routes.ts'
import { siteOf } from './plugins/site.ts'
import { portalAdminUserRoutes } from './portal/admin-users.ts'
import { portalAuditRoutes } from './portal/audit.ts'
import { portalAuthRoutes } from './portal/auth.ts'
import { portalClientRoutes } from './portal/clients.ts'
import { portalContactRecipientRoutes } from './portal/contact-recipients.ts'
import { portalDeployTokenRoutes } from './portal/deploy-tokens.ts'
import { portalDeployWebhookRoutes } from './portal/deploy-webhook.ts'
import { portalDeploymentHistoryRoutes } from './portal/deployment-history.ts'
import { portalDeploymentRoutes } from './portal/deployments.ts'
import { portalEnvVarRoutes } from './portal/env-vars.ts'
import { portalForwardingRoutes } from './portal/forwarding.ts'
import { portalIacRoutes } from './portal/iac.ts'
import { portalLogRoutes } from './portal/logs.ts'
import { portalMailReparseRoutes } from './portal/mail-reparse.ts'
import { portalMailVerificationRoutes } from './portal/mail-verification.ts'
import {
  portalAliasRoutes,
  portalMailboxChangeRoutes,
  portalMailboxRoutes,
} from './portal/mailboxes.ts'
import {
  portalMessageRoutes,
  portalSendingRoutes,
  portalSuppressionRoutes,
} from './portal/messages.ts'
import { portalOperationProfileRoutes } from './portal/operation-profiles.ts'
import { portalFailedMailRoutes, portalOutboxRoutes } from './portal/outbox.ts'
import { portalPageBrandingRoutes } from './portal/page-branding.ts'
import {
  portalBucketContentRoutes,
  portalResourceRoutes,
  portalTableContentRoutes,
} from './portal/resource-content.ts'
import { portalSecondFactorRoutes } from './portal/second-factors.ts'
import { portalSiteArchiveRoutes } from './portal/site-archives.ts'
import { portalSiteDnsRoutes } from './portal/site-dns.ts'
import { portalSiteRuntimeRoutes } from './portal/site-runtime.ts'
import { portalSiteRoutes } from './portal/sites.ts'
import { portalSubmissionCredentialRoutes } from './portal/submission-credentials.ts'
import { portalTokenRoutes } from './portal/tokens.ts'
import { portalUserSessionRoutes } from './portal/user-sessions.ts'
import { portalVisitorRoutes } from './portal/visitors.ts'
import { type RouteDeclaration, routeDeclarations } from './route-declaration.ts'
import { tlsPermissionRoutes } from './tls-permission.ts'

const storedObjectRoutes = (context: AppContext) =>
  objectRoutes({
    objects: context.objects,
    uploads: context.bucketQuotas,
    urls: context.objectUrls,
    siteIdOf: async (request) => (await siteOf(context, request)).siteId,
  })

type RouteFamily = (context: AppContext, declared: () => readonly RouteDeclaration[]) => AnyElysia

const SITE_FAMILIES: readonly RouteFamily[] = [
  healthRoutes,
  storedObjectRoutes,
  repositoryRoutes,
  wellKnownRoutes,
  clientLogoRoutes,
  siteLogoRoutes,
  consentRoutes,
  authorizeRoutes,
  providerCallbackRoutes,
  tokenRoutes,
  userInfoRoutes,
  revokeRoutes,
  logoutRoutes,
  formerLogoutRoutes,
  cognitoRoutes,
  loginRoutes,
  signUpRoutes,
  confirmUserRoutes,
  forgotPasswordRoutes,
  confirmForgotPasswordRoutes,
  secondFactorRoutes,
  accountRoutes,
  accountFormsRoutes,
  accountSecondFactorRoutes,
  accountPasskeyRoutes,
  accountGoogleRoutes,
  accountRestorationRoutes,
  adminEntranceRoutes,
  onboardingRoutes,
  addressChangeRoutes,
  adminDocumentRoutes,
  adminConfigRoutes,
  contactRoutes,
  forwardingVerificationRoutes,
  deployWebhookRoutes,
  adminUserRoutes,
  userProfileRoutes,
  ownProfileRoutes,
  ownSessionRoutes,
  userSessionRoutes,
  superAdminInviteRoutes,
  deployTokenRoutes,
  authEmailBrandingRoutes,
  pageBrandingRoutes,
  mailboxRoutes,
  messageStreamRoutes,
  messageRoutes,
  messageChangeRoutes,
  messagePurgeRoutes,
  messageSendingRoutes,
  mailSuppressionRoutes,
  mailboxSettingsRoutes,
  mailboxOwnerRoutes,
  forwardingRoutes,
  submissionCredentialRoutes,
  aliasRoutes,
  contactRecipientRoutes,
  resourceRoutes,
  tableActionRoutes,
  bucketActionRoutes,
  operationRoutes,
  envVarRoutes,
  groupRoutes,
  groupUserRoutes,
  visitorRoutes,
  visitorSessionRoutes,
  computeRoutes,
  jobRoutes,
  iacRoutes,
  iacDefinitionRoutes,
  logRoutes,
  usageRoutes,
  dataAuthRoutes,
  dataAuthAdditionRoutes,
  dataOperationRoutes,
  httpOperationRoutes,
]

/** What a deploy token opens too. CI comes from outside, so these are never the operator's alone. */
const DEPLOYMENT_FAMILIES: readonly RouteFamily[] = [
  portalDeploymentRoutes,
  portalDeploymentHistoryRoutes,
  portalSiteRuntimeRoutes,
  portalLogRoutes,
  portalIacRoutes,
  portalEnvVarRoutes,
]

/** What the operator key alone opens. */
const OPERATOR_FAMILIES: readonly RouteFamily[] = [
  portalDocumentRoutes,
  portalSiteRoutes,
  portalSiteArchiveRoutes,
  portalOperationProfileRoutes,
  portalDeployTokenRoutes,
  portalDeployWebhookRoutes,
  portalTokenRoutes,
  portalAuditRoutes,
  portalDiagnosisRoutes,
  portalAuthRoutes,
  portalPageBrandingRoutes,
  portalClientRoutes,
  portalUserSessionRoutes,
  portalVisitorRoutes,
  portalAdminUserRoutes,
  portalSecondFactorRoutes,
  portalOutboxRoutes,
  portalFailedMailRoutes,
  portalMailboxRoutes,
  portalMailboxChangeRoutes,
  portalAliasRoutes,
  portalContactRecipientRoutes,
  portalForwardingRoutes,
  portalSubmissionCredentialRoutes,
  portalMessageRoutes,
  portalSendingRoutes,
  portalSuppressionRoutes,
  portalMailReparseRoutes,
  portalMailVerificationRoutes,
  portalSiteDnsRoutes,
  portalResourceRoutes,
  portalTableContentRoutes,
  portalBucketContentRoutes,
]

/** What is served at `PORT`. Beside a listener of the operator's own that is nothing which the operator key opens. */
export function routes(context: AppContext): AnyElysia {
  const families = [...SITE_FAMILIES, ...DEPLOYMENT_FAMILIES]
  if (context.config.operator === undefined)
    return tableOf(context, [...families, ...OPERATOR_FAMILIES])
  return tableOf({ ...context, operatorKey: undefined }, families)
}

/** What is served at such a listener. */
export const operatorRoutes = (context: AppContext, watch: ProcessWatch): AnyElysia =>
  tableOf(context, [
    healthRoutes,
    tlsPermissionRoutes,
    ...DEPLOYMENT_FAMILIES,
    ...OPERATOR_FAMILIES,
  ]).use(metricsRoutes(context, watch))

function tableOf(context: AppContext, families: readonly RouteFamily[]): AnyElysia {
  const table: AnyElysia = new Elysia({ normalize: false })
  return table.use(families.map((family) => family(context, () => routeDeclarations(table))))
}

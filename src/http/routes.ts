import { type AnyElysia, Elysia } from 'elysia'

import type { AppContext } from '#context'

import { authEmailBrandingRoutes } from './admin-api/auth-email-branding.ts'
import { messageStreamRoutes } from './admin-api/message-stream.ts'
import { ownProfileRoutes, userProfileRoutes } from './admin-api/profile.ts'
import { computeRoutes } from './admin-data/compute.ts'
import { groupRoutes, groupUserRoutes } from './admin-data/groups.ts'
import { iacDefinitionRoutes } from './admin-data/iac-definitions.ts'
import { jobRoutes } from './admin-data/jobs.ts'
import { operationRoutes } from './admin-data/operations.ts'
import { resourceRoutes } from './admin-data/resources.ts'
import { usageRoutes } from './admin-data/usage.ts'
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
import { dataDocumentRoutes } from './data/document.ts'
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
import type { SiteFamily } from './plugins/site-family.ts'
import { siteOf } from './plugins/site.ts'
import { portalAuditRoutes } from './portal/audit.ts'
import { portalAuthRoutes } from './portal/auth.ts'
import { portalClientRoutes } from './portal/clients.ts'
import { portalDeployWebhookRoutes } from './portal/deploy-webhook.ts'
import { portalDeploymentHistoryRoutes } from './portal/deployment-history.ts'
import { portalDeploymentRoutes } from './portal/deployments.ts'
import { portalIacRoutes } from './portal/iac.ts'
import { portalMailReparseRoutes } from './portal/mail-reparse.ts'
import { portalMailVerificationRoutes } from './portal/mail-verification.ts'
import { portalMailboxReportRoutes } from './portal/mailbox-reports.ts'
import { portalFailedMailRoutes, portalOutboxRoutes } from './portal/outbox.ts'
import { portalSecondFactorRoutes } from './portal/second-factors.ts'
import { portalSiteArchiveRoutes } from './portal/site-archives.ts'
import { portalSiteDnsRoutes } from './portal/site-dns.ts'
import { portalSiteRuntimeRoutes } from './portal/site-runtime.ts'
import { portalSiteRoutes } from './portal/sites.ts'
import { portalTokenRoutes } from './portal/tokens.ts'
import { portalUserSessionRoutes } from './portal/user-sessions.ts'
import { type RouteDeclaration, routeDeclarations } from './route-declaration.ts'
import {
  adminUserInviteRoutes,
  adminUserRoutes,
  superAdminInviteRoutes,
} from './site-api/admin-users.ts'
import { aliasRoutes } from './site-api/aliases.ts'
import { contactRecipientRoutes } from './site-api/contact-recipients.ts'
import { deployTokenRoutes } from './site-api/deploy-tokens.ts'
import { envVarClearingRoutes, envVarRoutes } from './site-api/env-vars.ts'
import { forwardingRoutes, forwardingTargetRoutes } from './site-api/forwarding.ts'
import { iacJobRoutes, iacRoutes } from './site-api/iac.ts'
import { logRoutes } from './site-api/logs.ts'
import { mailSuppressionRoutes } from './site-api/mail-suppressions.ts'
import {
  mailboxOwnerRoutes,
  mailboxRemovalRoutes,
  mailboxRoutes,
  mailboxSettingsRoutes,
} from './site-api/mailboxes.ts'
import {
  messageChangeRoutes,
  messageDeletionRoutes,
  messagePurgeRoutes,
  messageRoutes,
  messageSendingRoutes,
  stagedAttachmentRoutes,
} from './site-api/messages.ts'
import { operationProfileRoutes } from './site-api/operation-profiles.ts'
import { pageBrandingRoutes } from './site-api/page-branding.ts'
import { bucketActionRoutes, tableActionRoutes } from './site-api/resource-actions.ts'
import { runtimeRoutes } from './site-api/resources.ts'
import { ownSessionRoutes, userSessionRoutes } from './site-api/sessions.ts'
import { submissionCredentialRoutes } from './site-api/submission-credentials.ts'
import { visitorRemovalRoutes, visitorRoutes, visitorSessionRoutes } from './site-api/visitors.ts'
import { tlsPermissionRoutes } from './tls-permission.ts'

const storedObjectRoutes = (context: AppContext) =>
  objectRoutes({
    objects: context.objects,
    uploads: context.bucketQuotas,
    urls: context.objectUrls,
    siteIdOf: async (request) => (await siteOf(context, request)).siteId,
  })

type RouteFamily = (context: AppContext, declared: () => readonly RouteDeclaration[]) => AnyElysia

/** What admins of a site and the operator both have. */
const SHARED_FAMILIES: readonly SiteFamily[] = [
  adminUserRoutes,
  aliasRoutes,
  contactRecipientRoutes,
  deployTokenRoutes,
  envVarRoutes,
  forwardingRoutes,
  forwardingTargetRoutes,
  iacRoutes,
  logRoutes,
  mailSuppressionRoutes,
  mailboxRoutes,
  mailboxRemovalRoutes,
  mailboxSettingsRoutes,
  mailboxOwnerRoutes,
  messageRoutes,
  messageSendingRoutes,
  operationProfileRoutes,
  pageBrandingRoutes,
  tableActionRoutes,
  bucketActionRoutes,
  runtimeRoutes,
  userSessionRoutes,
  submissionCredentialRoutes,
  visitorRemovalRoutes,
  visitorRoutes,
  visitorSessionRoutes,
]

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
  adminUserInviteRoutes,
  superAdminInviteRoutes,
  envVarClearingRoutes,
  iacJobRoutes,
  messageChangeRoutes,
  messageDeletionRoutes,
  messagePurgeRoutes,
  stagedAttachmentRoutes,
  ownSessionRoutes,
  userProfileRoutes,
  ownProfileRoutes,
  authEmailBrandingRoutes,
  messageStreamRoutes,
  resourceRoutes,
  operationRoutes,
  groupRoutes,
  groupUserRoutes,
  computeRoutes,
  jobRoutes,
  iacDefinitionRoutes,
  usageRoutes,
  dataAuthRoutes,
  dataAuthAdditionRoutes,
  dataDocumentRoutes,
  dataOperationRoutes,
  httpOperationRoutes,
  ...SHARED_FAMILIES.map(({ forSite }) => forSite),
]

/** What a deploy token opens too. CI comes from outside, so these are never the operator's alone. */
const DEPLOYMENT_FAMILIES: readonly RouteFamily[] = [
  portalDeploymentRoutes,
  portalDeploymentHistoryRoutes,
  portalSiteRuntimeRoutes,
  portalIacRoutes,
  ...SHARED_FAMILIES.filter(({ admitsTokens }) => admitsTokens).map(
    ({ forOperator }) => forOperator,
  ),
]

/** What the operator key alone opens. */
const OPERATOR_FAMILIES: readonly RouteFamily[] = [
  portalDocumentRoutes,
  portalSiteRoutes,
  portalSiteArchiveRoutes,
  portalDeployWebhookRoutes,
  portalTokenRoutes,
  portalAuditRoutes,
  portalDiagnosisRoutes,
  portalAuthRoutes,
  portalClientRoutes,
  portalUserSessionRoutes,
  portalSecondFactorRoutes,
  portalMailboxReportRoutes,
  portalOutboxRoutes,
  portalFailedMailRoutes,
  portalMailReparseRoutes,
  portalMailVerificationRoutes,
  portalSiteDnsRoutes,
  ...SHARED_FAMILIES.filter(({ admitsTokens }) => !admitsTokens).map(
    ({ forOperator }) => forOperator,
  ),
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

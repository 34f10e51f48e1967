import type { Language } from '#base/language.ts'
import { newPasswordField, usernameField } from '#http/oidc/fields.ts'
import { failureReference } from '#http/oidc/pages/error-page.ts'
import { NO_ERRORS } from '#http/oidc/pages/form-errors.ts'
import { type FormState, formPage } from '#http/oidc/pages/form.ts'
import { backToSite, noticePage, referenceOf } from '#http/oidc/pages/notice-page.ts'
import type { InviteEnd, OpenInvite } from '#identity/accounts/model.ts'
import type { Pool } from '#identity/pools/model.ts'
import { t } from '#languages/message.ts'
import type { Site } from '#sites/site.ts'

/** A request of an invited person, whose link is valid. */
export interface OnboardingRequest {
  readonly site: Site
  /** Of the person who opened the link. */
  readonly language: Language
  readonly token: string
  readonly invite: OpenInvite
  readonly pool: Pool
  /** Path of the page, without the token. */
  readonly path: string
  /** The address of the application in which the account is used. */
  readonly applicationUrl: string
}

/** What a form says that asks for a new link. */
export const RENEW = 'renew'

/** As the catalogues name them. */
const ROLES = { 'super-admin': 'super', admin: 'admin', user: 'user' }

export const passwordPage = (onboarding: OnboardingRequest, { errors }: FormState): Response =>
  formPage({
    title: t('invite.title'),
    language: onboarding.language,
    site: onboarding.site,
    lead: t('invite.lead', {
      role: ROLES[onboarding.invite.role ?? 'user'],
      site: onboarding.site.domain,
    }),
    action: onboarding.path,
    hidden: { token: onboarding.token },
    fields: [
      { ...usernameField(onboarding.invite.email), readOnly: true },
      newPasswordField(onboarding.pool.settings.passwordPolicy, t('field.password')),
      {
        name: 'confirmPassword',
        label: t('field.repeat-password'),
        type: 'password',
        autocomplete: 'new-password',
      },
    ],
    submit: t('reset.set'),
    errors,
  })

export const welcomePage = (onboarding: OnboardingRequest): Response =>
  noticePage({
    title: t('invite.done'),
    language: onboarding.language,
    site: onboarding.site,
    tone: 'good',
    text: [t('invite.done-text', { email: onboarding.invite.email })],
    links: [
      { href: onboarding.applicationUrl, label: t('invite.to-sign-in') },
      backToSite(onboarding.site, onboarding.applicationUrl),
    ],
  })

/** A link that opens nothing any more, and what to do about it. */
export interface EndedInvite extends Pick<
  OnboardingRequest,
  'site' | 'language' | 'token' | 'path' | 'applicationUrl'
> {
  readonly end: InviteEnd
  readonly requestId: string
}

export const endedInvitePage = (invite: EndedInvite): Response =>
  invite.end === 'expired' ? oldInvitePage(invite) : deadInvitePage(invite)

const oldInvitePage = ({ site, language, token, path, requestId }: EndedInvite): Response =>
  formPage({
    title: t('invite.old'),
    site,
    language,
    lead: t('invite.old-text', { site: site.domain }),
    action: path,
    hidden: { token, action: RENEW },
    fields: [],
    submit: t('invite.renew'),
    errors: { ...NO_ERRORS, status: 410 },
    more: referenceOf(failureReference('LinkExpired', requestId)),
  })

const deadInvitePage = ({
  site,
  language,
  end,
  applicationUrl,
  requestId,
}: EndedInvite): Response =>
  noticePage({
    title: t(end === 'used' ? 'invite.used' : 'failure.invalid-link'),
    site,
    language,
    tone: 'bad',
    text: end === 'used' ? [t('invite.used-text')] : [t('invite.dead-text'), t('invite.dead-more')],
    links:
      end === 'used'
        ? [
            { href: applicationUrl, label: t('invite.to-sign-in') },
            backToSite(site, applicationUrl),
          ]
        : [backToSite(site, applicationUrl)],
    reference: failureReference('LinkExpired', requestId),
    status: 410,
  })

/** The same whether a link was sent or not. */
export const renewedInvitePage = ({
  site,
  language,
  applicationUrl,
}: Pick<OnboardingRequest, 'site' | 'language' | 'applicationUrl'>): Response =>
  noticePage({
    title: t('invite.renewed'),
    site,
    language,
    tone: 'plain',
    text: [t('invite.renewed-text')],
    links: [backToSite(site, applicationUrl)],
  })

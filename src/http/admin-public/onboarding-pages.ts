import { newPasswordField, usernameField } from '#http/oidc/fields.ts'
import { opensAlone } from '#http/oidc/opener-policy.ts'
import { failureReference } from '#http/oidc/pages/error-page.ts'
import { NO_ERRORS } from '#http/oidc/pages/form-errors.ts'
import { type FormState, formPage } from '#http/oidc/pages/form.ts'
import { html } from '#http/oidc/pages/html.ts'
import { BACK_TO_SITE, noticePage, referenceOf } from '#http/oidc/pages/notice-page.ts'
import type { InviteEnd, OpenInvite } from '#identity/accounts/model.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

/** A request of an invited person, whose link is valid. */
export interface OnboardingRequest {
  readonly site: Site
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

const ROLES = { 'super-admin': 'a super-admin', admin: 'an admin', user: 'a user' }

export const passwordPage = (onboarding: OnboardingRequest, { errors }: FormState): Response =>
  formPage({
    title: 'Welcome',
    site: onboarding.site,
    lead: html`You are invited as ${ROLES[onboarding.invite.role ?? 'user']} of
      <b>${onboarding.site.domain}</b>. Choose a password for your account.`,
    action: onboarding.path,
    hidden: { token: onboarding.token },
    fields: [
      { ...usernameField(onboarding.invite.email), readOnly: true },
      newPasswordField(onboarding.pool.settings.passwordPolicy, 'Password'),
      {
        name: 'confirmPassword',
        label: 'Repeat the password',
        type: 'password',
        autocomplete: 'new-password',
      },
    ],
    submit: 'Set password',
    errors,
    headers: opensAlone(onboarding.applicationUrl),
  })

export const welcomePage = (onboarding: OnboardingRequest): Response =>
  noticePage({
    title: 'Your account is ready',
    site: onboarding.site,
    tone: 'good',
    text: [`Your password is set. From now on you sign in as ${onboarding.invite.email}.`],
    links: [{ href: onboarding.applicationUrl, label: 'Go to sign-in' }, BACK_TO_SITE],
    headers: opensAlone(onboarding.applicationUrl),
  })

/** A link that opens nothing any more, and what to do about it. */
export interface EndedInvite extends Pick<
  OnboardingRequest,
  'site' | 'token' | 'path' | 'applicationUrl'
> {
  readonly end: InviteEnd
  readonly requestId: string
}

export const endedInvitePage = (invite: EndedInvite): Response =>
  invite.end === 'expired' ? oldInvitePage(invite) : deadInvitePage(invite)

const oldInvitePage = ({ site, token, path, requestId }: EndedInvite): Response =>
  formPage({
    title: 'This link is too old',
    site,
    lead: html`A link of an invite to <b>${site.domain}</b> is good for seven days. A new one goes
      to the address that was invited.`,
    action: path,
    hidden: { token, action: RENEW },
    fields: [],
    submit: 'Send me a new link',
    errors: { ...NO_ERRORS, status: 410 },
    more: referenceOf(failureReference('LinkExpired', requestId)),
  })

const deadInvitePage = ({ site, end, applicationUrl, requestId }: EndedInvite): Response =>
  noticePage({
    title: end === 'used' ? 'This link was used already' : 'This link is not valid',
    site,
    tone: 'bad',
    text:
      end === 'used'
        ? [
            'The account has its password. Sign in with it, or set a new one there if you have forgotten it.',
          ]
        : [
            'A newer link may have taken its place: look for the latest message.',
            'If there is none, ask the people who invited you for a new one.',
          ],
    links:
      end === 'used'
        ? [{ href: applicationUrl, label: 'Go to sign-in' }, BACK_TO_SITE]
        : [BACK_TO_SITE],
    reference: failureReference('LinkExpired', requestId),
    status: 410,
  })

/** The same whether a link was sent or not. */
export const renewedInvitePage = (site: Site): Response =>
  noticePage({
    title: 'Look into your mail',
    site,
    tone: 'good',
    text: ['If the invite still stands, a new link is on its way to the address that was invited.'],
    links: [BACK_TO_SITE],
  })

import { newPasswordField, usernameField } from '#http/oidc/fields.ts'
import { type FormState, formPage } from '#http/oidc/pages/form.ts'
import { html } from '#http/oidc/pages/html.ts'
import { noticePage } from '#http/oidc/pages/notice-page.ts'
import type { OpenInvite } from '#identity/accounts/model.ts'
import type { PasswordPolicy } from '#identity/pools/settings.ts'
import type { Site } from '#sites/site.ts'

/** An invited person's browser, with a link that is still good. */
export interface OnboardingVisit {
  readonly site: Site
  readonly token: string
  readonly invite: OpenInvite
  readonly policy: PasswordPolicy
  /** Path of the page, without the token. */
  readonly path: string
  /** The address of the application in which the account is used. */
  readonly applicationUrl: string
}

const ROLES = { 'super-admin': 'a super-admin', admin: 'an admin', user: 'a user' }

export const passwordPage = (visit: OnboardingVisit, { errors }: FormState): Response =>
  formPage({
    title: 'Welcome',
    site: visit.site,
    lead: html`You are invited as ${ROLES[visit.invite.role ?? 'user']} of
      <b>${visit.site.domain}</b>. Choose a password for your account.`,
    action: visit.path,
    hidden: { token: visit.token },
    fields: [
      { ...usernameField(visit.invite.email), readOnly: true },
      newPasswordField(visit.policy, 'Password'),
      {
        name: 'confirmPassword',
        label: 'Repeat the password',
        type: 'password',
        autocomplete: 'new-password',
      },
    ],
    submit: 'Set password',
    errors,
    headers: alone(visit),
  })

export const welcomePage = (visit: OnboardingVisit): Response =>
  noticePage({
    title: 'Your account is ready',
    site: visit.site,
    tone: 'good',
    text: [`Your password is set. From now on you sign in as ${visit.invite.email}.`],
    links: [{ href: visit.applicationUrl, label: 'Go to sign-in' }],
    headers: alone(visit),
  })

/** No window that led here, or was opened from here, has a hold on this one. Browsers heed it over HTTPS only. */
const alone = ({ applicationUrl }: OnboardingVisit): Record<string, string> =>
  applicationUrl.startsWith('https:') ? { 'cross-origin-opener-policy': 'same-origin' } : {}

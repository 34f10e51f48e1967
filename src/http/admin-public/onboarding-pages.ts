import { newPasswordField, usernameField } from '#http/oidc/fields.ts'
import { opensAlone } from '#http/oidc/opener-policy.ts'
import { type FormState, formPage } from '#http/oidc/pages/form.ts'
import { html } from '#http/oidc/pages/html.ts'
import { noticePage } from '#http/oidc/pages/notice-page.ts'
import type { OpenInvite } from '#identity/accounts/model.ts'
import type { PasswordPolicy } from '#identity/pools/settings.ts'
import type { Site } from '#sites/site.ts'

/** A request of an invited person, whose link is valid. */
export interface OnboardingRequest {
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
      newPasswordField(onboarding.policy, 'Password'),
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
    links: [{ href: onboarding.applicationUrl, label: 'Go to sign-in' }],
    headers: opensAlone(onboarding.applicationUrl),
  })

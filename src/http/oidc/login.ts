import { Elysia } from 'elysia'

import { collectErrors } from '#base/collect-errors.ts'
import type { AppContext } from '#context'
import { t } from '#languages/message.ts'

import { readPassword, usernameField, readUsername } from './fields.ts'
import { formTargetOf, displayHost } from './form-targets.ts'
import { googleSignInLink } from './google-sign-in-link.ts'
import { applicationName } from './pages/application.ts'
import { type FormState, linkLine } from './pages/form.ts'
import { html } from './pages/html.ts'
import { PasskeyChallenges } from './passkeys/challenges.ts'
import { passkeyButton, passkeyRoutes } from './passkeys/routes.ts'
import { seeOther } from './see-other.ts'
import {
  type InteractionRequest,
  completePasswordSignIn,
  interactionPage,
  signInFormRoutes,
} from './sign-in-form.ts'

/** The page that signs in with address and password. */
export const loginRoutes = (context: AppContext) => {
  const challenges = new PasskeyChallenges(context)
  const show = (interaction: InteractionRequest, form: FormState) =>
    loginPage(challenges, interaction, form)
  return new Elysia()
    .use(passwordRoutes(context, show))
    .use(passkeyRoutes(context, challenges, show))
}

const passwordRoutes = (
  context: AppContext,
  show: (interaction: InteractionRequest, form: FormState) => Response,
) =>
  signInFormRoutes(context, {
    name: 'login',
    open: 'The page on which people sign in',
    effects: [],
    show,
    async submit(interaction, fields) {
      const authTime = context.clock.now()
      const [email, password] = await collectErrors(
        () => readUsername(fields),
        () => readPassword(fields),
      )
      const credentials = { email, password }
      const answer = await context.passwordSignIns.authenticate(interaction, credentials)
      if (answer.kind === 'unconfirmed') {
        const { registrationId } = answer
        const flow = { step: 'confirm', email: credentials.email, registrationId } as const
        return seeOther(interaction.pathTo('confirmUser', flow))
      }
      return completePasswordSignIn(context, interaction, { sub: answer.user.sub, authTime })
    },
  })

function loginPage(
  challenges: PasskeyChallenges,
  interaction: InteractionRequest,
  { typed, errors }: FormState,
): Response {
  const { pool, authorization, flow, pathTo } = interaction
  const username = flow?.step === 'password-reset' ? flow.email : authorization.loginHint
  return interactionPage(interaction, {
    title: t('sign-in.title'),
    lead: leadOf(interaction),
    instead: googleSignInLink(interaction),
    after: passkeyButton(challenges, interaction, { errors }),
    formTargets: [formTargetOf(authorization.redirectUri)],
    action: pathTo('login'),
    fields: [
      {
        ...usernameField(typed.get('username') ?? username),
        // Browsers offer passkeys there.
        autocomplete: 'username webauthn',
      },
      {
        name: 'password',
        label: t('field.password'),
        type: 'password',
        autocomplete: 'current-password',
      },
    ],
    submit: t('sign-in.submit'),
    errors,
    notice: flow?.step === 'password-reset' ? t('sign-in.password-changed') : undefined,
    more: html`<p>
        <a class="link" href="${pathTo('forgotPassword')}">${t('sign-in.forgot')}</a>
      </p>
      ${pool.settings.selfSignUp && linkLine(t('sign-in.no-account'), pathTo('signup'), t('sign-in.create-account'))}`,
  })
}

function leadOf({ pool, authorization }: InteractionRequest) {
  const { client, redirectUri } = authorization
  if (client.purpose === 'account')
    return t('sign-in.to-account', { place: displayHost(redirectUri) })
  return pool.kind === 'admin' && client.application === undefined
    ? t('sign-in.to-administration', { place: displayHost(pool.issuer) })
    : t('sign-in.to-application', { application: applicationName(authorization) })
}

import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { readCode } from '#http/oidc/fields.ts'
import type { Flow } from '#http/oidc/flow.ts'
import { formTargetOf } from '#http/oidc/form-targets.ts'
import { type FormState, linkLine } from '#http/oidc/pages/form.ts'
import { seeOther } from '#http/oidc/see-other.ts'
import {
  type InteractionRequest,
  interactionPage,
  signInFormRoutes,
  startSession,
} from '#http/oidc/sign-in-form.ts'
import { provenBy } from '#http/plugins/effects.ts'
import { t } from '#languages/message.ts'

import { APP_CODE, RECOVERY_CODE, SETUP_FIELD, recoveryCodesPage, setupPicture } from './pages.ts'
import { SetupSecrets } from './setup-secrets.ts'

/** How long after the password a code may come. */
const MAX_AGE_MS = 10 * 60_000
const WITH_RECOVERY = 'recovery'

type SecondStep = Extract<Flow, { readonly step: 'second-factor' }>

export const secondFactorRoutes = (context: AppContext) =>
  new Elysia().use(codeRoutes(context)).use(setupRoutes(context))

/** Who has given the password, not long ago. */
function stepOf({ clock }: AppContext, { flow }: InteractionRequest): SecondStep | undefined {
  if (flow?.step !== 'second-factor') return undefined
  return clock.now().getTime() - flow.authTimeMs <= MAX_AGE_MS ? flow : undefined
}

const toLogin = ({ pathTo, csrf }: InteractionRequest): Response =>
  seeOther(pathTo('login'), csrf.cookies)

/** The page that takes a code after the password was right. */
const codeRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'mfa',
    open: 'The page on which people give the second step of a sign-in',
    effects: [],
    show(interaction, { errors }) {
      const step = stepOf(context, interaction)
      if (!step) return toLogin(interaction)
      const isRecovery = asksForRecovery(interaction)
      const action = interaction.pathTo('mfa', step)
      return interactionPage(interaction, {
        title: t(isRecovery ? 'second-step.recovery-title' : 'second-step.title'),
        lead: isRecovery
          ? t('second-step.recovery-lead')
          : t('second-step.lead', { site: interaction.site.domain }),
        formTargets: [formTargetOf(interaction.authorization.redirectUri)],
        action: isRecovery ? `${action}&${WITH_RECOVERY}=1` : action,
        fields: [isRecovery ? RECOVERY_CODE : APP_CODE],
        submit: t('sign-in.submit'),
        errors,
        more: isRecovery
          ? linkLine(t('second-step.found-device'), action, t('second-step.use-app'))
          : linkLine(
              t('second-step.lost-device'),
              `${action}&${WITH_RECOVERY}=1`,
              t('second-step.use-recovery'),
            ),
      })
    },
    async submit(interaction, fields) {
      const step = stepOf(context, interaction)
      if (!step) return toLogin(interaction)
      const { sub } = step
      const code = fields.get('code') ?? ''
      if (code.trim() === '') readCode(fields)
      const secondFactor = await context.secondFactors.verify(interaction, { sub, code })
      const { location, cookies } = await startSession(context, interaction, {
        sub,
        authTime: new Date(step.authTimeMs),
        secondFactor,
      })
      return seeOther(location, cookies)
    },
  })

const asksForRecovery = ({ request }: InteractionRequest): boolean =>
  new URL(request.url).searchParams.has(WITH_RECOVERY)

/** The page that sets up an app, where the pool requires one. */
const setupRoutes = (context: AppContext) => {
  const secrets = new SetupSecrets(context)
  const show = async (interaction: InteractionRequest, { typed, errors }: FormState) => {
    const step = stepOf(context, interaction)
    if (!step) return toLogin(interaction)
    const { site, pool, csrf } = interaction
    const { sub } = step
    const { email } = await context.selfService.get(interaction, sub)
    const { secret, sealed } = secrets.of({ pool, sub, csrf }, typed.get(SETUP_FIELD))
    return interactionPage(interaction, {
      title: t('second-step.setup-title'),
      lead: t('second-step.setup-required', { site: site.domain }),
      formTargets: [formTargetOf(interaction.authorization.redirectUri)],
      instead: setupPicture(site, { email, secret }),
      action: interaction.pathTo('mfaSetup', step),
      hidden: { [SETUP_FIELD]: sealed },
      fields: [APP_CODE],
      submit: t('page.go-on'),
      errors,
    })
  }
  return signInFormRoutes(context, {
    name: 'mfaSetup',
    open: 'The page on which people set up the second step that the site asks for',
    ofAccount: true,
    effects: provenBy('the first step of the sign-in', ['movesAccount']),
    show,
    async submit(interaction, fields) {
      const step = stepOf(context, interaction)
      if (!step) return toLogin(interaction)
      const { site, language, pool, csrf } = interaction
      const { sub } = step
      const secret = secrets.open({ pool, sub, csrf }, fields.get(SETUP_FIELD))
      if (secret === undefined) throw setupExpired()
      const code = readCode(fields)
      const codes = await context.secondFactors.enable(interaction, { sub, secret, code })
      const { location, cookies } = await startSession(context, interaction, {
        sub,
        authTime: new Date(step.authTimeMs),
        secondFactor: 'totp',
      })
      const next = { href: location, label: t('page.go-on') }
      return recoveryCodesPage({ site, language, cookies }, codes, next)
    },
  })
}

export const setupExpired = (): AppError =>
  new AppError('ValidationError', t('error.setup-expired'))

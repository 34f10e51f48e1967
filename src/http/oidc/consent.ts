import type { AppContext } from '#context'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import { scopesOf } from '#identity/pools/scopes.ts'
import { type LocalizedText, t } from '#languages/message.ts'

import { formTargetOf } from './form-targets.ts'
import { applicationName } from './pages/application.ts'
import { type FormState, linkLine } from './pages/form.ts'
import { type Html, html } from './pages/html.ts'
import { scopeTexts } from './pages/learned.ts'
import { seeOther } from './see-other.ts'
import { readSession } from './session-cookie.ts'
import { type InteractionRequest, interactionPage, signInFormRoutes } from './sign-in-form.ts'

const DENY = 'deny'

/** The page on which people let an application of others in, or not. */
export const consentRoutes = (context: AppContext) =>
  signInFormRoutes(context, {
    name: 'consent',
    open: 'The page on which people let an application in; their session says who they are',
    ofAccount: true,
    effects: [],
    show: (interaction, form) => consentPage(context, interaction, form),
    async submit(interaction, fields) {
      const { site, authorization } = interaction
      const answer = answerOf(interaction)
      const agrees = fields.get('action') !== DENY
      const location =
        answer && (await context.signIns.answer(site, authorization, { ...answer, agrees }))
      return seeOther(location ?? interaction.pathTo('login'))
    },
  })

/** The user who answers: undefined for a browser without a session. */
function answerOf({ request, pool, flow }: InteractionRequest) {
  const sessionToken = readSession(request, pool)
  if (sessionToken === undefined) return undefined
  const proven =
    flow?.step === 'consent' ? { sub: flow.sub, authTime: new Date(flow.authTimeMs) } : undefined
  return { sessionToken, proven }
}

async function consentPage(
  context: AppContext,
  interaction: InteractionRequest,
  { errors }: FormState,
): Promise<Response> {
  const { site, authorization, pathTo, csrf, flow } = interaction
  const answer = answerOf(interaction)
  const account = answer && (await context.signIns.asked(site, authorization, answer))
  if (!account) return seeOther(pathTo('login'), csrf.cookies)
  const name = authorization.client.application?.name ?? ''
  return interactionPage(interaction, {
    title: t('consent.title', { name }),
    lead: t('consent.lead', {
      application: applicationName(authorization),
      email: account.email,
      site: site.domain,
    }),
    instead: askedFor(name, authorization),
    formTargets: [formTargetOf(authorization.redirectUri)],
    action: pathTo('consent', flow?.step === 'consent' ? flow : undefined),
    fields: [],
    submit: t('consent.allow'),
    refusal: { value: DENY, label: t('consent.deny') },
    errors,
    more: linkLine(t('page.not-you'), pathTo('login'), t('consent.other-account')),
  })
}

function askedFor(name: string, { pool, scope }: AuthorizationRequest): Html {
  const { learned, allowed } = scopeTexts(pool, scopesOf(scope))
  return html`
    ${learned.length > 0 && listOf(t('consent.learns', { name }), learned)}
    ${allowed.length > 0 && listOf(t('consent.may'), allowed)}
  `
}

const listOf = (title: LocalizedText, lines: readonly LocalizedText[]): Html =>
  html`<p class="lead">${title}</p>
    <ul class="learns">
      ${lines.map((line) => html`<li>${line}</li>`)}
    </ul>`

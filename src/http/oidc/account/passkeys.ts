import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { hasCsrfToken } from '#http/oidc/csrf.ts'
import { readForm } from '#http/oidc/form-body.ts'
import { html } from '#http/oidc/pages/html.ts'
import { htmlPage } from '#http/oidc/pages/page.ts'
import { withFullStop, wordsOf } from '#http/oidc/pages/text.ts'
import { PasskeyChallenges } from '#http/oidc/passkeys/challenges.ts'
import { CHALLENGE_FIELD, CREDENTIAL_FIELD, passkeyForm } from '#http/oidc/passkeys/form.ts'
import { PoolPath } from '#http/path-params.ts'
import { pages } from '#http/plugins/pages.ts'
import { passkeyCreationOptions } from '#identity/passkeys/options.ts'
import { type Words, say, wordsIn } from '#languages/message.ts'

import { ACCOUNT_GATE, backLine } from './account-form.ts'
import { type AccountRequest, ownerOnly, pathTo } from './account-request.ts'
import { deviceName } from './device-name.ts'

/** The passkeys of the account: the page that adds one, and the buttons of the account's page. */
export const accountPasskeyRoutes = (context: AppContext) => {
  const forOwner = ownerOnly(context)
  const challenges = new PasskeyChallenges(context)
  const route = { poolPage: ACCOUNT_GATE, params: PoolPath }
  return new Elysia({ prefix: '/oidc/:userPoolId/account/passkey' })
    .use(pages(context))
    .get(
      '/',
      forOwner('account/passkey', { recent: true }, async (account) =>
        addingPage(account, await optionsOf(context, challenges, account), undefined),
      ),
      route,
    )
    .post(
      '/',
      forOwner('account/passkey', { recent: true }, (account) =>
        change(context, challenges, account),
      ),
      route,
    )
}

interface Creation {
  readonly sealed: string
  readonly options: object
}

async function optionsOf(
  context: AppContext,
  challenges: PasskeyChallenges,
  request: AccountRequest,
): Promise<Creation> {
  const { site, pool, csrf, session } = request
  const { sub } = session
  const { email, name } = await context.ownAccounts.get(request, sub)
  const known = await context.passkeys.list(site, pool, sub)
  const { challenge, sealed } = challenges.create({ pool, csrf, sub })
  return {
    sealed,
    options: passkeyCreationOptions(request, { sub, email, name }, { known, challenge }),
  }
}

function addingPage(
  request: AccountRequest,
  { sealed, options }: Creation,
  fault: Words | undefined,
): Response {
  const { site, language, pool, csrf } = request
  const title = say('passkey.title')
  const form = passkeyForm({
    action: pathTo(pool, 'account/passkey'),
    csrfToken: csrf.token,
    sealed,
    options,
    kind: 'create',
    label: title,
  })
  return htmlPage({
    title: fault === undefined ? title : say('page.error', { title }),
    site,
    language,
    status: fault === undefined ? 200 : 400,
    cookies: csrf.cookies,
    scripted: true,
    body: html`
      <header>
        <h1>${title}</h1>
        <p class="lead">${say('passkey.lead', { site: site.domain })}</p>
      </header>
      ${fault !== undefined && html`<p class="alert" role="alert">${fault}</p>`} ${form}
      <p class="alert without-passkeys">${say('passkey.none-here')}</p>
      <div class="more">${backLine(request)}</div>
    `,
  })
}

async function change(
  context: AppContext,
  challenges: PasskeyChallenges,
  request: AccountRequest,
): Promise<Response> {
  const { pool, csrf, session, origin, language } = request
  const { sub } = session
  const fields = await readForm(request.request)
  if (!hasCsrfToken(csrf, fields)) {
    throw new AppError('Forbidden', say('error.page-expired'))
  }
  const removed = fields.get('passkey')
  if (removed !== null) {
    await context.passkeys.remove(request, sub, removed)
    return request.done('passkey-removed')
  }
  try {
    await context.passkeys.add(request, sub, {
      credential: fields.get(CREDENTIAL_FIELD) ?? '',
      challenge: challenges.open({ pool, csrf, sub }, fields.get(CHALLENGE_FIELD)),
      name: wordsIn(deviceName(origin.userAgent), language),
    })
    return request.done('passkey-added')
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'ValidationError') throw error
    const [fault = error] = error.details ?? []
    const words = withFullStop(wordsOf(fault))
    return addingPage(request, await optionsOf(context, challenges, request), words)
  }
}

import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { hasCsrfToken } from '#http/oidc/csrf.ts'
import { readCode } from '#http/oidc/fields.ts'
import { readForm } from '#http/oidc/form-body.ts'
import {
  APP_CODE,
  SETUP_FIELD,
  recoveryCodesPage,
  setupPicture,
} from '#http/oidc/second-factor/pages.ts'
import { setupExpired } from '#http/oidc/second-factor/routes.ts'
import { SetupSecrets } from '#http/oidc/second-factor/setup-secrets.ts'
import { PoolPath } from '#http/path-params.ts'
import { pages } from '#http/plugins/pages.ts'
import { say } from '#languages/message.ts'

import { ACCOUNT_GATE, accountFormPage, accountFormRoutes, backLine } from './account-form.ts'
import { type AccountRequest, ownerOnly, pathTo } from './account-request.ts'

/** The authenticator app of the account. */
export const accountSecondFactorRoutes = (context: AppContext) =>
  new Elysia().use(setupRoutes(context)).use(changeRoutes(context))

const setupRoutes = (context: AppContext) => {
  const secrets = new SetupSecrets(context)
  const ownerOf = ({ pool, csrf, session }: AccountRequest) => ({ pool, csrf, sub: session.sub })
  return accountFormRoutes(context, {
    page: 'account/totp',
    recent: true,
    async show(request, { typed, errors }) {
      const { site, session } = request
      const { email } = await context.ownAccounts.get(request, session.sub)
      const { secret, sealed } = secrets.of(ownerOf(request), typed.get(SETUP_FIELD))
      return accountFormPage(request, 'account/totp', {
        title: say('second-step.setup-title'),
        lead: say('second-step.setup-lead'),
        instead: setupPicture(site, { email, secret }),
        hidden: { [SETUP_FIELD]: sealed },
        fields: [APP_CODE],
        submit: say('second-step.setup-submit'),
        errors,
        more: backLine(request),
      })
    },
    async submit(request, fields) {
      const { session } = request
      const secret = secrets.open(ownerOf(request), fields.get(SETUP_FIELD))
      if (secret === undefined) throw setupExpired()
      const code = readCode(fields)
      const { sub } = session
      const codes = await context.secondFactors.enable(request, { sub, secret, code })
      return codesPage(request, codes)
    },
  })
}

const codesPage = (
  { site, language, pool, csrf }: AccountRequest,
  codes: readonly string[],
): Response =>
  recoveryCodesPage({ site, language, cookies: csrf.cookies }, codes, {
    href: pathTo(pool, 'account'),
    label: say('account.back'),
  })

/** What the buttons of the account's page do. */
const changeRoutes = (context: AppContext) => {
  const forOwner = ownerOnly(context)
  return new Elysia({ prefix: '/oidc/:userPoolId/account/second-factor' }).use(pages(context)).post(
    '/',
    forOwner('account', { recent: true }, (account) => change(context, account)),
    { poolPage: ACCOUNT_GATE, params: PoolPath },
  )
}

async function change(context: AppContext, request: AccountRequest): Promise<Response> {
  const { site, pool, origin, session } = request
  const fields = await readForm(request.request)
  if (!hasCsrfToken(request.csrf, fields)) {
    throw new AppError('Forbidden', say('error.page-expired'))
  }
  if (fields.get('action') === 'codes') {
    const codes = await context.secondFactors.renewRecoveryCodes(request, session.sub)
    return codesPage(request, codes)
  }
  if (pool.settings.requireSecondFactor) {
    throw new AppError('SecondFactorRequired', say('error.app-required', { site: site.domain }))
  }
  await context.secondFactors.disable(site, pool, session.sub, { origin })
  return request.done('totp-off')
}

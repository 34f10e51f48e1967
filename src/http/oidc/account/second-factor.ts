import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { readCode } from '#http/oidc/fields.ts'
import {
  APP_CODE,
  SETUP_FIELD,
  recoveryCodesPage,
  setupPicture,
} from '#http/oidc/second-factor/pages.ts'
import { setupExpired } from '#http/oidc/second-factor/routes.ts'
import { SetupSecrets } from '#http/oidc/second-factor/setup-secrets.ts'
import { t } from '#languages/message.ts'

import { accountFormPage, accountFormRoutes } from './account-form.ts'
import { type AccountRequest, pathTo } from './account-request.ts'

/** The authenticator app of the account. */
export const accountSecondFactorRoutes = (context: AppContext) =>
  new Elysia()
    .use(setupRoutes(context))
    .use(removalRoutes(context))
    .use(recoveryCodesRoutes(context))

const setupRoutes = (context: AppContext) => {
  const secrets = new SetupSecrets(context)
  const ownerOf = ({ pool, csrf, session }: AccountRequest) => ({ pool, csrf, sub: session.sub })
  return accountFormRoutes(context, {
    page: 'account/totp',
    proof: 'app',
    async show(request, form) {
      const { site, session } = request
      const { email } = await context.selfService.get(request, session.sub)
      const { secret, sealed } = secrets.of(ownerOf(request), form.typed.get(SETUP_FIELD))
      return accountFormPage(request, 'account/totp', form, {
        title: t('second-step.setup-title'),
        lead: t('second-step.setup-lead'),
        instead: setupPicture(site, { email, secret }),
        hidden: { [SETUP_FIELD]: sealed },
        fields: [APP_CODE],
        submit: t('second-step.setup-submit'),
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
    label: t('account.back'),
  })

const removalRoutes = (context: AppContext) =>
  accountFormRoutes(context, {
    page: 'account/totp/remove',
    proof: 'app',
    show: (request, form) =>
      accountFormPage(request, 'account/totp/remove', form, {
        title: t('app-removal.title'),
        lead: t('app-removal.lead'),
        fields: [],
        submit: t('account.take-off'),
      }),
    async submit(request) {
      const { site, pool, origin, session } = request
      if (pool.settings.requireSecondFactor) {
        throw new AppError('SecondFactorRequired', t('error.app-required', { site: site.domain }))
      }
      await context.secondFactors.disable(site, pool, session.sub, { type: 'owner', origin })
      return request.done('totp-off')
    },
  })

const recoveryCodesRoutes = (context: AppContext) =>
  accountFormRoutes(context, {
    page: 'account/recovery-codes',
    proof: 'app',
    show: (request, form) =>
      accountFormPage(request, 'account/recovery-codes', form, {
        title: t('recovery-codes.title'),
        lead: t('recovery-codes.lead'),
        fields: [],
        submit: t('recovery-codes.submit'),
      }),
    async submit(request) {
      return codesPage(
        request,
        await context.secondFactors.renewRecoveryCodes(request, request.session.sub),
      )
    },
  })

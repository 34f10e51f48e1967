import type { AppContext } from '#context'
import { formTargetOf } from '#http/oidc/form-targets.ts'
import { noticePage } from '#http/oidc/pages/notice-page.ts'
import { seeOther } from '#http/oidc/see-other.ts'
import { t } from '#languages/message.ts'

import { accountFormPage, accountFormRoutes } from './account-form.ts'
import { type AccountRequest, pathTo } from './account-request.ts'

/** Links Google to the account, or takes it off: whichever there is to do. */
export const accountGoogleRoutes = (context: AppContext) =>
  accountFormRoutes(context, {
    page: 'account/google',
    proof: 'google',
    async show(request, form) {
      const { site, pool, session } = request
      const { google, hasPassword } = await context.selfService.get(request, session.sub)
      if (google && !hasPassword) return passwordFirst(request)
      const target = google ? undefined : await context.authorizationRedirects.providerPage(pool)
      return accountFormPage(request, 'account/google', form, {
        title: t(google ? 'google.unlink-title' : 'google.link-title'),
        lead: t(google ? 'google.unlink-lead' : 'google.link-lead', { site: site.domain }),
        hidden: { change: google ? 'unlink' : 'link' },
        fields: [],
        formTargets: target === undefined ? [] : [formTargetOf(target)],
        submit: t(google ? 'account.take-off' : 'account.link'),
      })
    },
    async submit(request, fields) {
      const { site, pool, session } = request
      if (fields.get('change') === 'unlink') {
        await context.selfService.unlinkGoogle(request, session.sub)
        return request.done('google-unlinked')
      }
      const { authorizeUrl } = await context.links.startAtAccount(site, pool, session)
      return seeOther(authorizeUrl)
    },
  })

const passwordFirst = ({ site, pool, language, csrf }: AccountRequest): Response =>
  noticePage({
    title: t('google.unlink-title'),
    site,
    language,
    tone: 'bad',
    status: 409,
    text: [t('error.password-missing')],
    links: [
      { href: pathTo(pool, 'account/password'), label: t('password.set-title') },
      { href: pathTo(pool, 'account'), label: t('account.back') },
    ],
    cookies: csrf.cookies,
  })

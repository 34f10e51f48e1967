import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { readForm } from '#http/oidc/form-body.ts'
import { NO_ERRORS } from '#http/oidc/pages/form-errors.ts'
import { formPage } from '#http/oidc/pages/form.ts'
import { html } from '#http/oidc/pages/html.ts'
import { backToSite, noticePage } from '#http/oidc/pages/notice-page.ts'
import { PoolPath } from '#http/path-params.ts'
import { provenBy } from '#http/plugins/effects.ts'
import { type PoolPageRequest, pages } from '#http/plugins/pages.ts'
import { RESTORE_PATH } from '#identity/self-service/deletion-links.ts'
import { t } from '#languages/message.ts'

import { pathTo } from './account-request.ts'

/** Where a mailed link takes an account back that its owner deletes. Opening it changes nothing: programs that scan mail do. */
export const accountRestorationRoutes = (context: AppContext) => {
  const prefix: string = `/oidc/:userPoolId/${RESTORE_PATH}`
  const poolPage = { open: 'The mailed link is the authority' }
  return new Elysia({ prefix })
    .use(pages(context))
    .get('/', ({ poolRequest }) => ask(context, poolRequest), {
      poolPage,
      params: PoolPath,
    })
    .post('/', ({ poolRequest }) => takeBack(context, poolRequest), {
      poolPage,
      changes: { audit: 'page', effects: provenBy('the mailed link', ['movesAccount']) },
      params: PoolPath,
    })
}

async function ask(
  { accountDeletions }: AppContext,
  { site, pool, language, request }: PoolPageRequest,
): Promise<Response> {
  const token = required(new URL(request.url).searchParams.get('token'))
  const { email, expiresAt: until } = await accountDeletions.find(site, token)
  return formPage({
    title: t('new-address.undo-title'),
    site,
    language,
    lead: t('restoration.lead', { email, site: site.domain, until }),
    action: pathTo(pool, RESTORE_PATH),
    hidden: { token },
    fields: [],
    submit: t('new-address.undo-submit'),
    more: html`<p>${t('new-address.unexpected')}</p>`,
    errors: NO_ERRORS,
  })
}

/** The form needs no CSRF token: it contains the link's token, which is secret. */
async function takeBack(
  { accountDeletions }: AppContext,
  { site, pool, language, origin, request }: PoolPageRequest,
): Promise<Response> {
  const fields = await readForm(request)
  const { email } = await accountDeletions.takeBack(site, required(fields.get('token')), origin)
  return noticePage({
    title: t('new-address.undone'),
    site,
    language,
    tone: 'good',
    text: [t('restoration.done', { email })],
    links: [
      { href: pathTo(pool, 'account'), label: t('account.title') },
      backToSite(site, pool.issuer),
    ],
  })
}

function required(token: string | null): string {
  if (token) return token
  throw new AppError('MissingToken', t('error.whole-link'))
}

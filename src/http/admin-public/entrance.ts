import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { acceptsHtml, takesHtml } from '#http/accepts-html.ts'
import { pathTo } from '#http/oidc/account/account-request.ts'
import { backToSite, noticePage } from '#http/oidc/pages/notice-page.ts'
import { signedOutPage } from '#http/oidc/pages/signed-out-page.ts'
import { seeOther } from '#http/oidc/see-other.ts'
import { ADMINISTRATION, clearedSignedOut, hasJustSignedOut } from '#http/oidc/signed-out.ts'
import { routeNotFound } from '#http/plugins/errors.ts'
import { type GatedRequest, pages } from '#http/plugins/pages.ts'
import { languageOf } from '#http/request-language.ts'
import type { Pool } from '#identity/pools/model.ts'
import { t } from '#languages/message.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import type { SiteEntry } from '#sites/site-directory.ts'

/** What people ask of the administration's own addresses. */
interface Visit {
  readonly site: SiteEntry
  readonly pageRequest: GatedRequest
}

/**
 * The addresses that the bootstrap config names, for people: the way in and where sign-outs lead, and where a sign-in for the
 * site's own client ends. Both lead to the account's page, which leads to the sign-in by itself and gets no code: that of the
 * client stays unused. Programs that ask for JSON find nothing there.
 */
export const adminEntranceRoutes = (context: AppContext) =>
  new Elysia({ prefix: ADMINISTRATION })
    .use(pages(context))
    .get('/', (visit) => enter(context, visit), {
      page: { open: OPEN },
      summary: 'Redirect to the page of the account',
      errors: ['RouteNotFound'],
    })
    .get('/callback', (visit) => arrive(context, visit), {
      page: { open: OPEN },
      summary: 'Redirect to the page of the account after a sign-in',
      errors: ['RouteNotFound'],
    })

const OPEN = 'Leads to the account’s page'

async function enter(
  context: AppContext,
  { site, pageRequest: request }: Visit,
): Promise<Response> {
  if (!takesHtml(request)) throw routeNotFound()
  const pool = await adminPool(context, site)
  if (!hasJustSignedOut(request, pool)) {
    return acceptsHtml(request) ? toConsole(context, site, pool) : toAccount(pool)
  }
  const page = { site, pool, language: languageOf(request) }
  return signedOutPage(page, context.config.baseUrl, [clearedSignedOut(pool)])
}

async function arrive(
  context: AppContext,
  { site, pageRequest: request }: Visit,
): Promise<Response> {
  if (!takesHtml(request)) throw routeNotFound()
  const isRefused = new URL(request.url).searchParams.has('error')
  if (!isRefused) return toAccount(await adminPool(context, site))
  return noticePage({
    title: t('failure.sign-in'),
    site,
    language: languageOf(request),
    tone: 'bad',
    text: [t('failure.sign-in-refused')],
    links: [
      { href: ADMINISTRATION, label: t('failure.try-again') },
      backToSite(site, context.config.baseUrl),
    ],
    status: 400,
  })
}

async function adminPool({ pools }: AppContext, site: SiteEntry): Promise<Pool> {
  const { auth } = await pools.bootstrap(site)
  return pools.at(site, auth.userPoolId)
}

/** To the account's page where the site has no name for a console. */
function toConsole({ config }: AppContext, { host, consoleHost }: SiteEntry, pool: Pool): Response {
  if (consoleHost === undefined) return toAccount(pool)
  return seeOther(host === consoleHost ? '/' : `${siteBaseUrl(config.baseUrl, consoleHost)}/`)
}

const toAccount = (pool: Pool): Response => seeOther(pathTo(pool, 'account'))

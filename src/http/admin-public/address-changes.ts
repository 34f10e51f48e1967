import { Elysia, t as schema } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { mailedLink } from '#http/mailed-link.ts'
import { readForm } from '#http/oidc/form-body.ts'
import { provenBy } from '#http/plugins/effects.ts'
import { pages } from '#http/plugins/pages.ts'
import { languageOf } from '#http/request-language.ts'
import { originOf } from '#http/request-origin.ts'
import { ADDRESS_PATHS, type AddressLink } from '#identity/profiles/address-changes.ts'
import { t } from '#languages/message.ts'
import type { SiteEntry } from '#sites/site-directory.ts'

import { addressChangedPage, askPage } from './address-change-pages.ts'

/** Where a new address proves itself, and where an old one takes its account back. Opening a page changes nothing: programs that scan mail do. */
export const addressChangeRoutes = (context: AppContext) =>
  new Elysia().use(addressPage(context, 'confirm')).use(addressPage(context, 'undo'))

function addressPage(context: AppContext, link: AddressLink) {
  const prefix: string = ADDRESS_PATHS[link]
  const route = { page: { open: 'The mailed link is the authority' } }
  return new Elysia({ prefix })
    .use(pages(context))
    .get(
      '/',
      async ({ site, query, request }) => {
        const token = tokenIn(query.token)
        return askPage(
          { site, language: languageOf(request) },
          {
            link,
            token,
            change: await context.addressChanges.find(site, link, token),
          },
        )
      },
      {
        ...route,
        summary: 'Show the page that confirms or undoes a change of address',
        query: mailedLink({ token: schema.Optional(schema.String({ maxLength: 200 })) }),
      },
    )
    .post('/', ({ site, request }) => agree(context, site, link, request), {
      ...route,
      summary: 'Confirm or undo a change of address',
      changes: {
        audit: ['user.changed', 'sessions.revoked'],
        effects: provenBy(PROOFS[link], ['movesAccount']),
      },
    })
}

const PROOFS: Record<AddressLink, string> = {
  confirm: 'a link mailed to the new address',
  undo: 'a link mailed to the old address',
}

/** The form needs no CSRF token: it contains the link's token, which is secret. */
async function agree(
  { addressChanges, pools }: AppContext,
  site: SiteEntry,
  link: AddressLink,
  request: Request,
): Promise<Response> {
  const fields = await readForm(request)
  const token = tokenIn(fields.get('token') ?? undefined)
  const change = await addressChanges[link](site, token, originOf(request))
  const page = { site, language: languageOf(request) }
  return addressChangedPage(page, await pools.byId(site, change.userPoolId), { link, change })
}

function tokenIn(token: string | undefined): string {
  if (token) return token
  throw new AppError('MissingToken', t('error.whole-link'))
}

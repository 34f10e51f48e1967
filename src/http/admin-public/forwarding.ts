import { Elysia, t as schema } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { acceptsHtml } from '#http/accepts-html.ts'
import { mailedLink } from '#http/mailed-link.ts'
import { readForm } from '#http/oidc/form-body.ts'
import { provenBy } from '#http/plugins/effects.ts'
import { pages } from '#http/plugins/pages.ts'
import { publicSite } from '#http/plugins/site.ts'
import { languageOf } from '#http/request-language.ts'
import { originOf } from '#http/request-origin.ts'
import { t } from '#languages/message.ts'
import { ForwardingConsent } from '#mail/forwarding/model.ts'
import { VERIFICATION_PATH, type VerificationLink } from '#mail/forwarding/verifications.ts'
import type { SiteEntry } from '#sites/site-directory.ts'

import { consentPage, verifiedPage } from './forwarding-pages.ts'

const LINK = mailedLink({
  token: schema.Optional(schema.String({ maxLength: 200 })),
  mailbox: schema.Optional(schema.String({ maxLength: 512 })),
  target: schema.Optional(schema.String({ maxLength: 512 })),
})

/** What one request asks of a link. */
interface LinkVisit {
  readonly site: SiteEntry
  readonly request: Request
  readonly link: VerificationLink
}

/**
 * Where a forwarding target agrees. To a browser it is a page with a button, since programs that scan mail open its links; a
 * program that does not ask for a page agrees by its GET.
 */
export const forwardingVerificationRoutes = (context: AppContext) =>
  new Elysia({ prefix: VERIFICATION_PATH })
    .use(publicSite(context))
    .use(pages(context))
    .get(
      '/',
      async ({ site, request, query }) => {
        const visit = { site, request, link: linkOf(query) }
        const looks = request.method === 'HEAD' || acceptsHtml(request)
        return looks ? look(context, visit) : agreeAsProgram(context, visit)
      },
      {
        open: OPEN,
        summary: 'Show the page that agrees to a forwarding, or agree to it',
        errors: ['InvalidToken', 'LinkExpired', 'MissingToken'],
        changes: { audit: 'query', effects: EFFECTS },
        query: LINK,
        response: ForwardingConsent,
        responds: 'page',
      },
    )
    .post('/', ({ site, request }) => agree(context, site, request), {
      page: { open: OPEN },
      summary: 'Agree to a forwarding',
      changes: { audit: ['mail-forwarding.verified'], effects: EFFECTS },
    })

const OPEN = 'The mailed link is the authority'
const EFFECTS = provenBy('a link mailed to the target', ['movesMail'])

/** Changes nothing. */
async function look(
  { forwardingVerifications }: AppContext,
  { site, request, link }: LinkVisit,
): Promise<Response> {
  const consent = await forwardingVerifications.find(site, link, originOf(request))
  return consentPage({ site, language: languageOf(request) }, link.token, consent)
}

async function agreeAsProgram(
  { forwardingVerifications }: AppContext,
  { site, request, link }: LinkVisit,
): Promise<Response> {
  const verified: ForwardingConsent = await forwardingVerifications.verify(
    site,
    link,
    originOf(request),
  )
  return Response.json(verified, { headers: { 'cache-control': 'no-store', vary: 'accept' } })
}

/** The form needs no CSRF token: it contains the link's token, which is secret. */
async function agree(context: AppContext, site: SiteEntry, request: Request): Promise<Response> {
  const fields = await readForm(request)
  const link = linkOf({
    token: fields.get('token') ?? undefined,
    mailbox: fields.get('mailbox') ?? undefined,
    target: fields.get('target') ?? undefined,
  })
  const consent = await context.forwardingVerifications.verify(site, link, originOf(request))
  return verifiedPage({ site, language: languageOf(request) }, consent)
}

interface SentLink extends Pick<VerificationLink, 'mailbox' | 'target'> {
  readonly token?: string | undefined
}

function linkOf({ token, ...named }: SentLink): VerificationLink {
  if (token) return { token, ...named }
  throw new AppError('MissingToken', t('error.whole-link'))
}

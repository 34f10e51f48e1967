import { Elysia, t as schema } from 'elysia'

import { AppError, invalid } from '#base/app-error.ts'
import { collectErrors } from '#base/collect-errors.ts'
import type { AppContext } from '#context'
import { mailedLink } from '#http/mailed-link.ts'
import { readPassword } from '#http/oidc/fields.ts'
import { readForm } from '#http/oidc/form-body.ts'
import { formErrorsOf } from '#http/oidc/pages/form-errors.ts'
import { EMPTY_FORM } from '#http/oidc/pages/form.ts'
import { provenBy } from '#http/plugins/effects.ts'
import { pages } from '#http/plugins/pages.ts'
import { languageOf } from '#http/request-language.ts'
import { originOf } from '#http/request-origin.ts'
import { scopeOf } from '#http/request-scope.ts'
import { t } from '#languages/message.ts'
import { adminBaseUrl } from '#sites/base-url.ts'
import type { SiteEntry } from '#sites/site-directory.ts'

import {
  type OnboardingRequest,
  RENEW,
  endedInvitePage,
  passwordPage,
  renewedInvitePage,
  welcomePage,
} from './onboarding-pages.ts'

const FOLDER = '/admin/public/onboarding'

/** The page on which an invited person sets a password and so takes the account. Opening it does not use up the link. */
export const onboardingRoutes = (context: AppContext) =>
  new Elysia().use(onboardingPage(context, 'super-admin')).use(onboardingPage(context, 'user'))

function onboardingPage(context: AppContext, name: 'super-admin' | 'user') {
  const path: string = `${FOLDER}/${name}`
  const route = { page: { open: 'The link in the invite is the authority' } }
  return new Elysia({ prefix: path })
    .use(pages(context))
    .get(
      '/',
      async ({ site, query, request }) => {
        const opened = await openInvite(context, { path, site, request }, query.token)
        return opened instanceof Response ? opened : passwordPage(opened, EMPTY_FORM)
      },
      {
        ...route,
        summary: 'Show the page of an invite',
        query: mailedLink({ token: schema.Optional(schema.String({ maxLength: 200 })) }),
      },
    )
    .post('/', ({ site, request }) => accept(context, path, site, request), {
      ...route,
      summary: 'Set a password and accept an invite',
      changes: {
        audit: ['invite.redeemed', 'invite.sent'],
        effects: provenBy('the link in the invite', ['movesAccount']),
      },
    })
}

/** The form needs no CSRF token: it contains the invite's token, which is secret. */
async function accept(
  context: AppContext,
  path: string,
  site: SiteEntry,
  request: Request,
): Promise<Response> {
  const fields = await readForm(request)
  const token = fields.get('token') ?? undefined
  if (token !== undefined && fields.get('action') === RENEW) {
    await context.inviteAcceptances.renew(site, token, originOf(request))
    const applicationUrl = adminBaseUrl(context.config.baseUrl, site)
    return renewedInvitePage({ site, language: languageOf(request), applicationUrl })
  }
  const onboarding = await openInvite(context, { path, site, request }, token)
  if (onboarding instanceof Response) return onboarding
  try {
    const password = await chosenPassword(context, onboarding, fields)
    await context.inviteAcceptances.accept(
      site,
      { token: onboarding.token, password },
      originOf(request),
    )
  } catch (error) {
    return passwordPage(onboarding, { typed: fields, errors: formErrorsOf(error) })
  }
  return welcomePage(onboarding)
}

interface Opening {
  readonly path: string
  readonly site: SiteEntry
  readonly request: Request
}

/** Returns the page that says what to do instead for an invite that is over. */
async function openInvite(
  { inviteAcceptances, pools }: AppContext,
  { path, site, request }: Opening,
  token: string | undefined,
): Promise<OnboardingRequest | Response> {
  if (!token) throw new AppError('MissingToken', t('error.whole-link'))
  const { auth } = await pools.bootstrap(site)
  const invite = await inviteAcceptances.find(site, token)
  const language = languageOf(request)
  const opened = { site, language, token, path, applicationUrl: auth.logoutUri }
  if (!invite) {
    const end = await inviteAcceptances.endOf(site, token)
    return endedInvitePage({ ...opened, end, requestId: scopeOf(request).requestId })
  }
  return { ...opened, invite, pool: await pools.at(site, auth.userPoolId) }
}

/** The password, once it was given twice and the policy takes it. */
async function chosenPassword(
  { passwords }: AppContext,
  { pool, invite }: OnboardingRequest,
  fields: URLSearchParams,
): Promise<string> {
  const password = readPassword(fields)
  await collectErrors(
    () => passwords.check(pool, { email: invite.email, password }),
    () => {
      if (fields.get('confirmPassword') === password) return
      throw invalid('confirmPassword', t('fault.not-the-same'))
    },
  )
  return password
}

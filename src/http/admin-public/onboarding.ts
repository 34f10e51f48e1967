import { Elysia, t } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { readSameOriginForm } from '#http/oidc/csrf.ts'
import { readPassword } from '#http/oidc/fields.ts'
import { formErrorsOf } from '#http/oidc/pages/form-errors.ts'
import { EMPTY_FORM } from '#http/oidc/pages/form.ts'
import { publicSite } from '#http/plugins/site.ts'
import { originOf } from '#http/request-origin.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import type { Site } from '#sites/site.ts'

import { type OnboardingRequest, passwordPage, welcomePage } from './onboarding-pages.ts'

const FOLDER = '/admin/public/onboarding'

/** The page on which an invited person sets a password and so takes the account. Opening it does not use up the link. */
export const onboardingRoutes = (context: AppContext) =>
  new Elysia().use(onboardingPage(context, 'super-admin')).use(onboardingPage(context, 'user'))

function onboardingPage(context: AppContext, name: 'super-admin' | 'user') {
  const path: string = `${FOLDER}/${name}`
  const why = { open: 'The link in the invite is the authority' }
  return new Elysia({ prefix: path })
    .use(publicSite(context))
    .get(
      '/',
      async ({ site, query }) =>
        passwordPage(await openInvite(context, path, site, query.token), EMPTY_FORM),
      { ...why, query: t.Object({ token: t.Optional(t.String({ maxLength: 200 })) }) },
    )
    .post('/', ({ site, request }) => accept(context, path, site, request), why)
}

/** The form needs no CSRF token: it contains the invite's token, which is secret. */
async function accept(
  context: AppContext,
  path: string,
  site: Site,
  request: Request,
): Promise<Response> {
  const baseUrl = siteBaseUrl(context.config.baseUrl, site.domain)
  const fields = await readSameOriginForm(request, new URL(baseUrl).origin)
  const onboarding = await openInvite(context, path, site, fields.get('token') ?? undefined)
  try {
    const acceptance = { token: onboarding.token, password: chosenPassword(fields) }
    await context.inviteAcceptances.accept(site, acceptance, originOf(request))
  } catch (error) {
    return passwordPage(onboarding, { typed: fields, errors: formErrorsOf(error) })
  }
  return welcomePage(onboarding)
}

async function openInvite(
  { inviteAcceptances, pools }: AppContext,
  path: string,
  site: Site,
  token: string | undefined,
): Promise<OnboardingRequest> {
  if (!token) throw new AppError('MissingToken', 'Open the whole link that was mailed to you')
  const invite = await inviteAcceptances.find(site, token)
  if (!invite) throw new AppError('LinkExpired', EXPIRED)
  const { auth } = await pools.bootstrap(site)
  const { settings } = await pools.byId(site, auth.userPoolId)
  const { passwordPolicy: policy } = settings
  return { site, token, invite, policy, path, applicationUrl: auth.logoutUri }
}

const EXPIRED =
  'It was used already, it is older than seven days, or a newer one was sent. Ask for a new invite, or sign in when you have set your password.'

function chosenPassword(fields: URLSearchParams): string {
  const password = readPassword(fields)
  if (fields.get('confirmPassword') === password) return password
  const message = 'The two passwords are not the same'
  throw new AppError('ValidationError', message, {
    details: [{ field: 'confirmPassword', message }],
  })
}

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

import { type OnboardingVisit, passwordPage, welcomePage } from './onboarding-pages.ts'

const FOLDER = '/admin/public/onboarding'

/** Where an invited person sets a password and so takes the account. Looking at the page does not use the link up. */
export const onboardingRoutes = (context: AppContext) =>
  new Elysia().use(onboardingPage(context, 'super-admin')).use(onboardingPage(context, 'user'))

function onboardingPage(context: AppContext, name: 'super-admin' | 'user') {
  const path: string = `${FOLDER}/${name}`
  const onboarding = new Onboarding(context, path)
  const open = 'The link in the invite is the authority'
  return new Elysia({ prefix: path })
    .use(publicSite(context))
    .get('/', ({ site, query }) => onboarding.show(site, query.token), {
      open,
      query: t.Object({ token: t.Optional(t.String({ maxLength: 200 })) }),
    })
    .post('/', ({ site, request }) => onboarding.take(site, request), { open })
}

class Onboarding {
  readonly #context: AppContext
  readonly #path: string

  constructor(context: AppContext, path: string) {
    this.#context = context
    this.#path = path
  }

  async show(site: Site, token: string | undefined): Promise<Response> {
    return passwordPage(await this.#visit(site, token), EMPTY_FORM)
  }

  /** The form needs no token of its own: whoever knows the invite's could send it as well. */
  async take(site: Site, request: Request): Promise<Response> {
    const fields = await readSameOriginForm(request, new URL(this.#baseUrl(site)).origin)
    const token = fields.get('token') ?? undefined
    const visit = await this.#visit(site, token)
    try {
      const taking = { token: visit.token, password: chosenPassword(fields) }
      await this.#context.inviteAcceptances.accept(site, taking, originOf(request))
    } catch (error) {
      return passwordPage(visit, { typed: fields, errors: formErrorsOf(error) })
    }
    return welcomePage(visit)
  }

  async #visit(site: Site, token: string | undefined): Promise<OnboardingVisit> {
    if (!token) throw new AppError('MissingToken', 'Open the whole link that was mailed to you')
    const invite = await this.#context.inviteAcceptances.find(site, token)
    if (!invite) throw new AppError('LinkExpired', EXPIRED)
    const { auth } = await this.#context.pools.bootstrap(site)
    const { settings } = await this.#context.pools.byId(site, auth.userPoolId)
    return {
      site,
      token,
      invite,
      policy: settings.passwordPolicy,
      path: this.#path,
      applicationUrl: auth.logoutUri,
    }
  }

  #baseUrl(site: Site): string {
    return siteBaseUrl(this.#context.config.baseUrl, site.domain)
  }
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

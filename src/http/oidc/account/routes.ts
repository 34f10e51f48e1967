import { Elysia } from 'elysia'

import type { Role } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { hasCsrfToken } from '#http/oidc/csrf.ts'
import { readForm } from '#http/oidc/form-body.ts'
import { EXPIRED_FORM } from '#http/oidc/pages/form-errors.ts'
import { PoolPath } from '#http/path-params.ts'
import { pages } from '#http/plugins/pages.ts'
import { t } from '#languages/message.ts'

import { ACCOUNT_GATE } from './account-form.ts'
import { type PageFault, overviewPage } from './account-pages.ts'
import { type AccountRequest, ownerOnly } from './account-request.ts'
import type { MemberOverview } from './member-section.ts'

/** The account's page itself, and what its buttons do. */
export const accountRoutes = (context: AppContext) => {
  const forOwner = ownerOnly(context)
  // Elysia changes what it is handed: each route gets an object of its own.
  const route = { poolPage: ACCOUNT_GATE, params: PoolPath }
  return new Elysia({ prefix: '/oidc/:userPoolId/account' })
    .use(pages(context))
    .get(
      '/',
      forOwner('account', (account) => overview(context, account, undefined)),
      { ...route },
    )
    .get(
      '/export',
      forOwner('account', (account) => exported(context, account)),
      { ...route },
    )
    .post(
      '/sessions',
      forOwner('account', (account) => endSessions(context, account)),
      { ...route, changes: { audit: 'page', effects: [] } },
    )
    .post(
      '/applications',
      forOwner('account', (account) => removeApplication(context, account)),
      { ...route, changes: { audit: 'page', effects: [] } },
    )
}

async function overview(
  context: AppContext,
  request: AccountRequest,
  fault: PageFault | undefined,
): Promise<Response> {
  const { site, pool, session } = request
  const owner = { pool, sub: session.sub, familyId: session.sessionId }
  const [account, sessions, factors, passkeys, applications] = await Promise.all([
    context.selfService.get(request, session.sub),
    context.userSessions.list(site, owner),
    context.secondFactors.state(site, pool, session.sub),
    context.passkeys.list(site, pool, session.sub),
    context.consents.list(request, session.sub),
  ])
  return overviewPage(request, {
    account,
    sessions,
    factors,
    applications,
    passkeys,
    membership:
      account.role === null ? undefined : await membershipOf(context, request, account.role),
    now: context.clock.now(),
    fault: fault ?? googleFault(new URL(request.request.url).searchParams),
  })
}

/** The page says when there are more; applications list them all. */
const SHOWN_MAILBOXES = 20

async function membershipOf(
  { mailboxes, config }: AppContext,
  { site, session }: AccountRequest,
  role: Role,
): Promise<MemberOverview> {
  // As a user, who sees their own alone.
  const owner = { type: 'known', id: session.sub } as const
  const page = { limit: SHOWN_MAILBOXES, after: undefined }
  const { items, lastKey } = await mailboxes.list(site, owner, page)
  const { smtpHostname: host, submissionPort: port } = config.mail
  return {
    role,
    mailboxes: items,
    hasMoreMailboxes: lastKey !== undefined,
    submission: { host, port },
  }
}

async function exported(context: AppContext, request: AccountRequest): Promise<Response> {
  const kept = await context.selfService.export(request, request.session.sub)
  return new Response(`${JSON.stringify(kept, undefined, 2)}\n`, {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': 'attachment; filename="account.json"',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}

async function endSessions(context: AppContext, request: AccountRequest): Promise<Response> {
  const { site, pool, origin, session } = request
  const fields = await readForm(request.request)
  if (!hasCsrfToken(request.csrf, fields)) return overview(context, request, EXPIRED)
  const owner = { pool, sub: session.sub, familyId: session.sessionId }
  if (fields.get('action') === 'end-others') {
    await context.userSessions.endAll(site, owner, { type: 'owner', origin })
    return request.done('sessions-ended')
  }
  const sessionId = fields.get('session') ?? ''
  await context.userSessions
    .end(site, owner, sessionId, { type: 'owner', origin })
    .catch(ignoreEnded)
  return request.done('session-ended')
}

async function removeApplication(context: AppContext, request: AccountRequest): Promise<Response> {
  const fields = await readForm(request.request)
  if (!hasCsrfToken(request.csrf, fields)) return overview(context, request, EXPIRED)
  const clientId = fields.get('client') ?? ''
  await context.consents.withdraw(request, request.session.sub, clientId).catch(ignoreEnded)
  return request.done('application-removed')
}

/** It has ended on its own, or at the hands of another window. */
function ignoreEnded(error: unknown): void {
  const ended = ['SessionNotFound', 'ClientNotFound']
  if (!(error instanceof AppError) || !ended.includes(error.code)) throw error
}

const EXPIRED: PageFault = { status: EXPIRED_FORM.status, words: t('page.expired') }

/** Our own words for an error from Google: a crafted URL must not be able to write on the page. */
function googleFault(params: URLSearchParams): PageFault | undefined {
  if (!params.has('error')) return undefined
  const words = params.get('error_description')?.startsWith('ProviderLinkedToOtherAccount')
    ? t('google.linked-elsewhere')
    : t('google.not-linked')
  return { status: 200, words }
}

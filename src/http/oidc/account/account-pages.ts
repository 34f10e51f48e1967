import { CSRF_FIELD } from '#http/oidc/csrf.ts'
import { formTargetOf } from '#http/oidc/form-targets.ts'
import { openerPolicyOf } from '#http/oidc/opener-policy.ts'
import { type Html, html } from '#http/oidc/pages/html.ts'
import { wordsOfScopes } from '#http/oidc/pages/learned.ts'
import { htmlPage } from '#http/oidc/pages/page.ts'
import type { ConsentedClient } from '#identity/consents/service.ts'
import type { LinkedProvider, OwnAccount } from '#identity/own-account/model.ts'
import type { Passkey } from '#identity/passkeys/model.ts'
import type { SecondFactorState } from '#identity/second-factors/service.ts'
import type { ListedSession } from '#identity/sessions/model.ts'

import { type AccountNotice, type AccountRequest, pathTo } from './account-request.ts'
import { deviceName, timeAgo } from './device-name.ts'

/** What a page of the account shows. */
export interface AccountOverview {
  readonly account: OwnAccount
  readonly sessions: readonly ListedSession[]
  readonly factors: SecondFactorState
  readonly passkeys: readonly Passkey[]
  readonly applications: readonly ConsentedClient[]
  readonly now: Date
  /** The provider's page, to which the button that links it leads. */
  readonly providerPage: string | undefined
  readonly fault: PageFault | undefined
}

/** What did not work, in words of ours. */
export interface PageFault {
  readonly status: number
  readonly words: string
}

const NOTICES: Record<AccountNotice, (detail: string) => string> = {
  name: () => 'Your name is changed.',
  password: () => 'Your password is changed, and every other sign-in has ended.',
  'passkey-added': () => 'Your passkey is added. You can sign in with it.',
  'passkey-removed': () => 'That passkey is removed. Delete it on its device, too.',
  'totp-off': () => 'Your authenticator app is taken off.',
  'google-unlinked': () => 'Google is taken off your account.',
  'application-removed': () => 'That application is signed out, and asks you when it comes back.',
  'session-ended': () => 'That sign-in has ended.',
  'sessions-ended': () => 'Every other sign-in has ended.',
  address: (email) =>
    `We have sent a message to ${email}. Your address changes as soon as you open its link.`,
}

/** The page on which people look after their account. */
export function overviewPage(request: AccountRequest, overview: AccountOverview): Response {
  const { site, pool, csrf } = request
  const body = html`
    <header>
      <h1>Your account</h1>
      <p class="lead"><b>${overview.account.email}</b> at <b>${site.domain}</b></p>
    </header>
    ${messageOf(request, overview.fault)}
    <ul class="rows">
      ${profileRows(request, overview.account)} ${factorRows(request, overview.factors)}
      ${passkeyRows(request, overview)}
    </ul>
    ${applicationSection(request, overview)} ${signInSection(request, overview)}
    ${dataSection(request)}
    <div class="more">
      <p><a class="link" href="${pathTo(pool, 'logout')}">Sign out</a></p>
      <p><a class="link" href="/">Back to the site</a></p>
    </div>
  `
  return htmlPage({
    title: 'Your account',
    site,
    body,
    wide: true,
    formTargets: overview.providerPage === undefined ? [] : [formTargetOf(overview.providerPage)],
    status: overview.fault?.status ?? 200,
    cookies: csrf.cookies,
    headers: openerPolicyOf(pool),
  })
}

function messageOf({ notice }: AccountRequest, fault: PageFault | undefined): Html | undefined {
  if (fault !== undefined) {
    return html`<p class="alert" role="alert">${fault.words}</p>`
  }
  const words = notice && Object.entries(NOTICES).find(([name]) => name === notice.done)?.[1]
  return words && html`<p class="alert good" role="status">${words(notice.detail ?? '')}</p>`
}

function profileRows(request: AccountRequest, account: OwnAccount): Html {
  const { pool } = request
  const { name, email, hasPassword, google } = account
  const link = (page: string, label: string, what: string): Html =>
    html`<a class="link" href="${pathTo(pool, page)}"
      >${label}<span class="visually-hidden"> ${what}</span></a
    >`
  return html`
    ${row('Name', name ?? 'Not set', link('account/name', 'Change', 'your name'))}
    ${row('Email address', email, link('account/address', 'Change', 'your address'))}
    ${row(
      'Password',
      hasPassword ? 'Set' : 'Not set',
      link('account/password', hasPassword ? 'Change' : 'Set one', 'your password'),
    )}
    ${pool.google?.enabled && row('Google', googleWords(google), googleAction(request, account))}
  `
}

function factorRows(request: AccountRequest, { totp, recoveryCodesLeft }: SecondFactorState): Html {
  const app = 'Authenticator app'
  if (!totp) {
    const link = html`<a class="link" href="${pathTo(request.pool, 'account/totp')}"
      >Set up<span class="visually-hidden"> an authenticator app</span></a
    >`
    return row(app, 'Not set up', link)
  }
  const press = (action: string, label: string, what: string): Html =>
    button(request, 'account/second-factor', { action, label, what })
  return html`
    ${row(app, 'A code beside your password', press('off', 'Take off', 'the authenticator app'))}
    ${row('Recovery codes', `${recoveryCodesLeft} left`, press('codes', 'New ones', ''))}
  `
}

function passkeyRows(request: AccountRequest, { passkeys, now }: AccountOverview): Html {
  const add = html`<a class="link" href="${pathTo(request.pool, 'account/passkey')}"
    >Add<span class="visually-hidden"> a passkey</span></a
  >`
  return html`
    ${row('Passkeys', passkeys.length === 0 ? 'None yet' : 'Sign in without a password', add)}
    ${passkeys.map((passkey) => passkeyRow(request, passkey, now))}
  `
}

function passkeyRow(request: AccountRequest, passkey: Passkey, now: Date): Html {
  const { credentialId, name, createdAt, lastUsedAt } = passkey
  const used = lastUsedAt === null ? 'not used yet' : `used ${timeAgo(lastUsedAt, now)}`
  const remove = { action: 'remove', label: 'Remove', what: `the passkey of ${name}` }
  const hidden = { passkey: credentialId }
  return row(
    name,
    `Added ${timeAgo(createdAt, now)}, ${used}`,
    button(request, 'account/passkey', { ...remove, hidden }),
  )
}

const googleWords = (google: LinkedProvider | undefined): string =>
  google === undefined ? 'Not linked' : (google.email ?? 'Linked')

const googleAction = (request: AccountRequest, { google }: OwnAccount): Html =>
  google === undefined
    ? button(request, 'account/google', { action: 'link', label: 'Link', what: 'Google' })
    : button(request, 'account/google', { action: 'unlink', label: 'Take off', what: 'Google' })

/** Only for who has let one in. */
function applicationSection(
  request: AccountRequest,
  { applications, now }: AccountOverview,
): Html | undefined {
  if (applications.length === 0) return undefined
  return html`
    <h2>Applications you let in</h2>
    <ul class="rows">
      ${applications.map(({ clientId, name, scopes, grantedAt }) => {
        const remove = {
          action: 'remove',
          label: 'Remove',
          what: name,
          hidden: { client: clientId },
        }
        const words = `${scopeWords(request, scopes)} · let in ${timeAgo(grantedAt, now)}`
        return row(name, words, button(request, 'account/applications', remove))
      })}
    </ul>
  `
}

function scopeWords({ pool }: AccountRequest, scopes: readonly string[]): string {
  const { learned, allowed } = wordsOfScopes(pool, scopes)
  return [
    ...(learned.length > 0 ? [`Knows ${learned.join(', ')}`] : []),
    ...(allowed.length > 0 ? [`May: ${allowed.join(', ')}`] : []),
  ].join(' · ')
}

function signInSection(request: AccountRequest, { sessions, now }: AccountOverview): Html {
  const others = sessions.some(({ current }) => !current)
  const everywhere = { action: 'end-others', label: 'Sign out everywhere else', what: '' }
  return html`
    <h2>Where you are signed in</h2>
    <ul class="rows">
      ${sessions.map((session) => sessionRow(request, session, now))}
    </ul>
    ${others && html`<p class="hint">${button(request, 'account/sessions', everywhere)}</p>`}
  `
}

function sessionRow(request: AccountRequest, session: ListedSession, now: Date): Html {
  const { sessionId, userAgent, address, lastSeenAt, current } = session
  const device = deviceName(userAgent)
  const end = {
    action: 'end',
    label: 'End',
    what: `the sign-in of ${device}`,
    hidden: { session: sessionId },
  }
  return html`<li class="row">
    <div>
      <h3>${device}${current && html`<span class="here">this browser</span>`}</h3>
      <p class="hint">${address} · ${timeAgo(lastSeenAt, now)}</p>
    </div>
    ${!current && button(request, 'account/sessions', end)}
  </li>`
}

function dataSection({ pool }: AccountRequest): Html {
  const download = html`<a class="link" href="${pathTo(pool, 'account/export')}" download
    >Download</a
  >`
  const remove = html`<a class="link bad" href="${pathTo(pool, 'account/delete')}"
    >Delete<span class="visually-hidden"> your account</span></a
  >`
  return html`
    <h2>What is kept about you</h2>
    <ul class="rows">
      ${row('Your data', 'The account, its sign-ins and what happened to it, as JSON', download)}
      ${
        pool.kind === 'data' &&
        row('Your account', 'Deleted for good, with all that is kept for it', remove)
      }
    </ul>
  `
}

const row = (label: string, value: string, action: Html): Html =>
  html`<li class="row">
    <div>
      <h3>${label}</h3>
      <p class="hint">${value}</p>
    </div>
    ${action}
  </li>`

interface RowButton {
  readonly action: string
  readonly label: string
  /** For who does not see the row. */
  readonly what: string
  readonly hidden?: Readonly<Record<string, string>>
}

const button = (
  { pool, csrf }: AccountRequest,
  page: string,
  { action, label, what, hidden = {} }: RowButton,
): Html =>
  html`<form method="post" action="${pathTo(pool, page)}">
    <input type="hidden" name="${CSRF_FIELD}" value="${csrf.token}" />
    ${Object.entries(hidden).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <button class="link" name="action" value="${action}">
      ${label}${what !== '' && html`<span class="visually-hidden"> ${what}</span>`}
    </button>
  </form>`

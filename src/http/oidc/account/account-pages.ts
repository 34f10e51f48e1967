import { type Html, html } from '#http/oidc/pages/html.ts'
import { scopeTexts } from '#http/oidc/pages/learned.ts'
import { siteHref } from '#http/oidc/pages/notice-page.ts'
import { htmlPage } from '#http/oidc/pages/page.ts'
import { UI_LOCALES } from '#http/request-language.ts'
import type { ConsentedClient } from '#identity/consents/consents.ts'
import type { Passkey } from '#identity/passkeys/model.ts'
import type { AccountPage } from '#identity/pools/client.ts'
import type { SecondFactorState } from '#identity/second-factors/second-factors.ts'
import type { LinkedProvider, SelfServiceAccount } from '#identity/self-service/model.ts'
import type { ListedSession } from '#identity/sessions/model.ts'
import type { TextKey } from '#languages/catalogues.ts'
import { type LocalizedText, t } from '#languages/message.ts'
import { listed, timeAgo } from '#languages/spans.ts'

import { type AccountNotice, type AccountRequest, pathTo } from './account-request.ts'
import { accountRow, rowButton, rowLink, visuallyHidden } from './account-rows.ts'
import { deviceName } from './device-name.ts'
import { type MemberOverview, memberSection } from './member-section.ts'
import { REMOVED_PASSKEY } from './passkeys.ts'

/** What a page of the account shows. */
export interface AccountOverview {
  readonly account: SelfServiceAccount
  readonly sessions: readonly ListedSession[]
  readonly factors: SecondFactorState
  readonly passkeys: readonly Passkey[]
  readonly applications: readonly ConsentedClient[]
  /** Undefined for visitors. */
  readonly membership: MemberOverview | undefined
  readonly now: Date
  readonly fault: PageFault | undefined
}

/** What did not work, in words of ours. */
export interface PageFault {
  readonly status: number
  readonly words: LocalizedText
}

const NOTICES: Record<AccountNotice, TextKey> = {
  name: 'done.name',
  password: 'done.password',
  'passkey-added': 'done.passkey-added',
  'passkey-removed': 'done.passkey-removed',
  'totp-off': 'done.totp-off',
  'google-unlinked': 'done.google-unlinked',
  'application-removed': 'done.application-removed',
  'session-ended': 'done.session-ended',
  'sessions-ended': 'done.sessions-ended',
  address: 'done.address',
}

/** The page on which people look after their account. */
export function overviewPage(request: AccountRequest, overview: AccountOverview): Response {
  const { site, language, pool, csrf } = request
  const body = html`
    <header>
      <h1>${t('account.title')}</h1>
      <p class="lead">
        ${t('account.whose', { email: overview.account.email, site: site.domain })}
      </p>
    </header>
    ${messageOf(request, overview.fault)}
    ${overview.membership && memberSection(request, overview.membership)}
    <h2${overview.membership === undefined && html` class="visually-hidden"`}>${t('account.own')}</h2>
    <ul class="rows">
      ${profileRows(request, overview.account)} ${factorRows(request, overview.factors)}
      ${passkeyRows(request, overview)}
    </ul>
    ${applicationSection(request, overview)} ${signInSection(request, overview)}
    ${dataSection(request)}
    <div class="more">
      <p>
        <a class="link" href="${pathTo(pool, 'logout')}?${UI_LOCALES}=${language}"
          >${t('account.sign-out')}</a
        >
      </p>
      <p><a class="link" href="${siteHref(site, pool.issuer)}">${t('page.back-to-site')}</a></p>
    </div>
  `
  return htmlPage({
    title: t('account.title'),
    site,
    language,
    body,
    wide: true,
    status: overview.fault?.status ?? 200,
    cookies: csrf.cookies,
  })
}

function messageOf({ notice }: AccountRequest, fault: PageFault | undefined): Html | undefined {
  if (fault !== undefined) {
    return html`<p class="alert" role="alert">${fault.words}</p>`
  }
  const key = notice && Object.entries(NOTICES).find(([name]) => name === notice.done)?.[1]
  if (key === undefined) return undefined
  const words = t(key, { email: notice?.detail ?? '' })
  return html`<p class="alert good" role="status">${words}</p>`
}

function profileRows(request: AccountRequest, account: SelfServiceAccount): Html {
  const { pool } = request
  const { name, email, hasPassword, google } = account
  const change = t('account.change')
  const link = (page: string, label: LocalizedText, what: LocalizedText): Html =>
    rowLink(pathTo(pool, page), label, what)
  return html`
    ${accountRow(t('field.name'), name ?? t('account.not-set'), link('account/name', change, t('account.of-name')))}
    ${accountRow(t('field.email'), email, link('account/address', change, t('account.of-address')))}
    ${accountRow(
      t('field.password'),
      t(hasPassword ? 'account.set' : 'account.not-set'),
      link(
        'account/password',
        hasPassword ? change : t('account.set-one'),
        t('account.of-password'),
      ),
    )}
    ${pool.google?.enabled && accountRow('Google', googleWords(google), googleAction(request, account))}
  `
}

function factorRows(request: AccountRequest, { totp, recoveryCodesLeft }: SecondFactorState): Html {
  const app = t('account.app')
  if (!totp) {
    const page = pathTo(request.pool, 'account/totp')
    const link = rowLink(page, t('account.set-up'), t('account.of-app'))
    return accountRow(app, t('account.app-none'), link)
  }
  const link = (page: AccountPage, label: LocalizedText, what: LocalizedText): Html =>
    rowLink(pathTo(request.pool, page), label, what)
  return html`
    ${accountRow(
      app,
      t('account.app-set'),
      link('account/totp/remove', t('account.take-off'), t('account.of-app')),
    )}
    ${accountRow(
      t('account.codes'),
      t('account.codes-left', { count: recoveryCodesLeft }),
      link('account/recovery-codes', t('account.codes-new'), t('account.codes')),
    )}
  `
}

function passkeyRows(request: AccountRequest, { passkeys, now }: AccountOverview): Html {
  const page = pathTo(request.pool, 'account/passkey')
  const add = rowLink(page, t('account.add'), t('account.of-new-passkey'))
  const state = t(passkeys.length === 0 ? 'account.passkeys-none' : 'account.passkeys-some')
  return html`
    ${accountRow(t('account.passkeys'), state, add)}
    ${passkeys.map((passkey) => passkeyRow(request, passkey, now))}
  `
}

function passkeyRow(request: AccountRequest, passkey: Passkey, now: Date): Html {
  const { credentialId, name, createdAt, lastUsedAt } = passkey
  const added = timeAgo(createdAt, now)
  const words =
    lastUsedAt === null
      ? t('account.passkey-unused', { added })
      : t('account.passkey-used', { added, used: timeAgo(lastUsedAt, now) })
  const query = new URLSearchParams({ [REMOVED_PASSKEY]: credentialId }).toString()
  const page = `${pathTo(request.pool, 'account/passkey/remove')}?${query}`
  const remove = rowLink(page, t('account.remove'), t('account.of-passkey', { name }))
  return accountRow(name, words, remove)
}

const googleWords = (google: LinkedProvider | undefined): LocalizedText =>
  google === undefined ? t('account.not-linked') : (google.email ?? t('account.linked'))

const googleAction = ({ pool }: AccountRequest, { google }: SelfServiceAccount): Html => {
  const label = t(google === undefined ? 'account.link' : 'account.take-off')
  return rowLink(pathTo(pool, 'account/google'), label, 'Google')
}

/** Only for users who have authorized one. */
function applicationSection(
  request: AccountRequest,
  { applications, now }: AccountOverview,
): Html | undefined {
  if (applications.length === 0) return undefined
  return html`
    <h2>${t('account.applications')}</h2>
    <ul class="rows">
      ${applications.map(({ clientId, name, scopes, grantedAt }) => {
        const remove = {
          action: 'remove',
          label: t('account.remove'),
          what: name,
          hidden: { client: clientId },
        }
        const since = t('account.application-since', { when: timeAgo(grantedAt, now) })
        return accountRow(
          name,
          dotted([...scopeWords(request, scopes), since]),
          rowButton(request, 'account/applications', remove),
        )
      })}
    </ul>
  `
}

function scopeWords({ pool }: AccountRequest, scopes: readonly string[]): readonly LocalizedText[] {
  const { learned, allowed } = scopeTexts(pool, scopes)
  return [
    ...(learned.length > 0 ? [t('account.application-knows', { things: listed(learned) })] : []),
    ...(allowed.length > 0 ? [t('account.application-may', { things: listed(allowed) })] : []),
  ]
}

const dotted = (texts: readonly LocalizedText[]): Html =>
  html`${texts.map((text, at) => html`${at > 0 && ' · '}${text}`)}`

function signInSection(request: AccountRequest, { sessions, now }: AccountOverview): Html {
  const others = sessions.some(({ current }) => !current)
  const everywhere = { action: 'end-others', label: t('account.end-others') }
  return html`
    <h2>${t('account.sessions')}</h2>
    <ul class="rows">
      ${sessions.map((session) => sessionRow(request, session, now))}
    </ul>
    ${others && html`<p class="hint">${rowButton(request, 'account/sessions', everywhere)}</p>`}
  `
}

function sessionRow(request: AccountRequest, session: ListedSession, now: Date): Html {
  const { sessionId, userAgent, address, lastSeenAt, current } = session
  const device = deviceName(userAgent)
  const end = {
    action: 'end',
    label: t('account.end'),
    what: t('account.of-session', { device }),
    hidden: { session: sessionId },
  }
  return html`<li class="row">
    <div>
      <h3>${device}${current && html`<span class="here">${t('account.this-browser')}</span>`}</h3>
      <p class="hint">${address} · ${timeAgo(lastSeenAt, now)}</p>
    </div>
    ${!current && rowButton(request, 'account/sessions', end)}
  </li>`
}

function dataSection({ pool }: AccountRequest): Html {
  // A link with `download` asks as a script does: the response says that it is a file.
  const download = html`<a class="link" href="${pathTo(pool, 'account/export')}"
    >${t('account.download')}</a
  >`
  const remove = html`<a class="link bad" href="${pathTo(pool, 'account/delete')}"
    >${t('account.delete')}${visuallyHidden(t('account.of-account'))}</a
  >`
  return html`
    <h2>${t('account.kept')}</h2>
    <ul class="rows">
      ${accountRow(t('account.data'), t('account.data-what'), download)}
      ${pool.kind === 'data' && accountRow(t('account.title'), t('account.delete-what'), remove)}
    </ul>
  `
}

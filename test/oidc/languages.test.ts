import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { LANGUAGES, type Language } from '#base/language.ts'
import { t } from '#languages/message.ts'
import { Owner, PASSWORD } from '#test/account-owner.ts'
import { FormBrowser, textOf } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import { codeIn, linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const SITES = ['one.test', 'two.test']
const GOOD = 'Correct-horse-7'

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('the language %s', (_where, baseUrl) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({ sites: SITES, ...(baseUrl && { config: { baseUrl } }) })
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  describe.each(SITES)('of %s', (host) => {
    const get = (path: string, acceptLanguage?: string): Promise<Answer> =>
      new FormBrowser(stack, host, acceptLanguage).get(path)

    test.each(LANGUAGES)('is %s where the application asks for it, at both pools', async (tag) => {
      const title = t('sign-in.title').in(tag)
      for (const kind of ['data', 'admin'] as const) {
        const party = await RelyingParty.of(stack, host, kind)
        const page = await get(party.page('login', { ui_locales: `xx ${tag}-XX` }), 'nl, pl;q=0.1')
        expect(languageIn(page)).toBe(tag)
        expect(page.text).toContain(`<h1>${title}</h1>`)
      }
    })

    test.each<[string | undefined, string | undefined, Language]>([
      [undefined, 'de-AT, en;q=0.5', 'de'],
      ['nl', 'es', 'es'],
      [undefined, undefined, 'en'],
      ['fr'.repeat(400), 'de;q=nothing, *', 'en'],
      ['<script>alert(1)</script>', `${'x,'.repeat(3000)}fr`, 'en'],
      ['__proto__ constructor', 'toString', 'en'],
    ])('with ui_locales %j and a browser of %j is %s', async (uiLocales, accepted, language) => {
      const party = await RelyingParty.of(stack, host)
      const page = await get(party.page('login', { ui_locales: uiLocales }), accepted)
      expect(page.status).toBe(200)
      expect(languageIn(page)).toBe(language)
      expect(page.text).not.toContain('<script>alert')
    })

    test('stays through a sign-in that the application began, mistakes included', async () => {
      const party = await RelyingParty.of(stack, host)
      const browser = new FormBrowser(stack, host, 'pl')
      const sent = await browser.get(party.page('oauth2/authorize', { ui_locales: 'fr en' }))
      const login = await browser.get(sent.headers['location'] ?? '')
      expect(textOf(login.text)).toContain('Mot de passe oublié ?')
      const wrong = await browser.submit(login, { username: 'a@b.test', password: 'Wrong-7' })
      expect(languageIn(wrong)).toBe('fr')
      expect(textOf(wrong.text)).toContain('L’adresse e-mail ou le mot de passe est incorrect.')
      const empty = await browser.submit(login, { username: '', password: '' })
      expect(textOf(empty.text)).toContain('Saisissez votre adresse e-mail')
      const signUp = /href="([^"]*\/signup[^"]*)"/.exec(login.text)?.[1] ?? ''
      const form = await browser.get(signUp.replaceAll('&#38;', '&'))
      expect(languageIn(form)).toBe('fr')
      const short = await browser.submit(form, { username: 'a@b.test', password: 'court' })
      expect(textOf(short.text)).toContain('Doit avoir au moins 8 caractères')
    })

    test('is that of the account in its mail, in any browser', async () => {
      const party = await RelyingParty.of(stack, host)
      const email = `ala@${host}`
      const browser = new FormBrowser(stack, host, 'pl')
      const form = await browser.get(party.page('signup'))
      const confirm = await browser.get(
        (await browser.submit(form, { username: email, password: GOOD })).headers['location'] ?? '',
      )
      const code = await mailTo(stack, email, 'verification')
      expect(code.subject).toContain(`to Twój kod do ${host}`)
      await browser.submit(confirm, { code: codeIn(code) })

      const stranger = new FormBrowser(stack, host, 'en')
      const forgot = await stranger.get(party.page('forgotPassword'))
      await stranger.submit(forgot, { username: email })
      const reset = await mailTo(stack, email, 'reset')
      expect(reset.subject).toContain(`resetuje Twoje hasło do ${host}`)
      expect(reset.text).toContain('Wpisz ten kod w')
      expect(reset.html).toContain('<html lang="pl">')

      const other = await RelyingParty.of(stack, SITES.find((site) => site !== host) ?? '')
      const elsewhere = new FormBrowser(stack, other.host, 'it')
      const there = await elsewhere.get(other.page('signup'))
      await elsewhere.submit(there, { username: email, password: GOOD })
      const foreign = await mailTo(stack, email, 'verification', code)
      expect(foreign.subject).toContain(`è il Suo codice per ${other.host}`)
    })

    test('of an account is that of its last sign-in', async () => {
      const { party, email } = await Owner.of(stack, host)
      const subjects: string[] = []
      for (const [language, before] of [['ja', undefined] as const, ['es', 'ja'] as const]) {
        const browser = new FormBrowser(stack, host, language)
        const login = await browser.get(party.page('login'))
        await browser.submit(login, { username: email, password: PASSWORD })
        const forgot = await browser.get(party.page('forgotPassword', { ui_locales: 'en' }))
        const earlier = before === undefined ? undefined : await mailTo(stack, email, 'reset')
        await browser.submit(forgot, { username: email })
        subjects.push((await mailTo(stack, email, 'reset', earlier)).subject)
      }
      expect(subjects).toEqual([
        expect.stringContaining(`は ${host} のパスワード再設定コードです`),
        expect.stringContaining(`restablece su contraseña de ${host}`),
      ])
    })

    test('of an invitation is that of its sender, and its pages follow the browser', async () => {
      const token = await stack.adminToken(host)
      const email = `gast@${host}`
      const headers = { 'accept-language': 'de-CH' }
      const body = { email, role: 'admin' }
      await stack.call(host, 'POST', '/admin/api/users', { token, body, headers })
      const invite = await mailTo(stack, email, 'invite')
      expect(invite.subject).toBe(`Ihre Einladung zu ${host}`)
      const { pathname, search } = new URL(linkIn(invite))
      const page = await get(pathname + search, 'it')
      expect(textOf(page.text)).toContain(`È stato invitato come amministratore di ${host}`)
    })

    test('that led to the account’s pages is that of all of them', async () => {
      const { party, email, browser: known } = await Owner.of(stack, host)
      const browser = new FormBrowser(stack, host, 'pl')
      const sent = await browser.get(`${party.path}/account?ui_locales=it`)
      const authorize = await browser.get(sent.headers['location'] ?? '')
      const login = await browser.get(authorize.headers['location'] ?? '')
      expect(textOf(login.text)).toContain(`al Suo account su ${host}`)
      await browser.submit(login, { username: email, password: PASSWORD })
      const account = await browser.get(`${party.path}/account`)
      expect(languageIn(account)).toBe('it')
      expect(account.text).toContain(`${party.path}/logout?ui_locales=it"`)
      const named = await browser.get(`${party.path}/account/name`)
      expect(textOf(named.text)).toContain(`Come vuole essere chiamato su ${host}`)
      const exported = await browser.get(`${party.path}/account/export`)
      expect(exported.json).toMatchObject({ account: { language: 'it' } })
      expect(languageIn(await known.get(`${party.path}/account`))).toBe('en')
      const again = await browser.get(`${party.path}/account?ui_locales=de`)
      expect([languageIn(again), languageIn(await browser.get(`${party.path}/account`))]).toEqual([
        'de',
        'de',
      ])
    })

    test('of a sign-out stays while it is confirmed', async () => {
      const { party, browser } = await Owner.of(stack, host)
      const confirm = await browser.get(`${party.path}/logout?ui_locales=es`)
      expect(textOf(confirm.text)).toContain(`Tiene la sesión iniciada en ${host}`)
      const done = await browser.submit(confirm, {})
      expect(textOf(done.text)).toContain('Ha cerrado la sesión')
    })

    test('of failures is the browser’s on pages, and English to programs', async () => {
      const incomplete = await get('/admin/public/onboarding/user', 'pt-BR')
      expect(incomplete.status).toBe(400)
      expect(languageIn(incomplete)).toBe('pt')
      expect(textOf(incomplete.text)).toContain('Abra o link completo que foi enviado a você.')
      const nobody = await RelyingParty.of(stack, host)
      const refused = await get(nobody.page('login', { client_id: 'nobody' }), 'ja')
      expect(textOf(refused.text)).toContain('このログインは続けられません')
      const html = { accept: 'text/html', 'accept-language': 'de' }
      const site = await stack.call(host, 'GET', '/', { headers: html })
      expect(textOf(site.text)).toContain(`${host} läuft`)

      const headers = { 'accept-language': 'de', accept: 'application/json' }
      const program = await stack.call(host, 'GET', '/admin/api/users', { headers })
      expect(program.json.error).toEqual({
        code: expect.any(String),
        message: expect.stringContaining('This route needs a valid token'),
        requestId: expect.any(String),
      })
      const token = await stack.dataToken(host)
      const body = { password: 'kurz' }
      const { json } = await stack.call(host, 'POST', '/data/auth/password', {
        token,
        body,
        headers,
      })
      expect(JSON.stringify(json)).not.toMatch(/Passwort|text/)
    })

    test('of the pages is in the discovery document', async () => {
      const { path } = await RelyingParty.of(stack, host)
      const document = await stack.call(host, 'GET', `${path}/.well-known/openid-configuration`)
      expect(document.json).toMatchObject({ ui_locales_supported: LANGUAGES })
    })
  })
})

/** Of a page, in its header and its markup. */
function languageIn({ headers, text }: Answer): string {
  const marked = /<html lang="([^"]*)"/.exec(text)?.[1] ?? 'none'
  const said = headers['content-language']
  return said === marked ? marked : `${said} and ${marked}`
}

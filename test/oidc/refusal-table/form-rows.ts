import { expect } from 'vitest'

import { type FormBrowser, actionOf, hiddenFields } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import type { RelyingParty } from '#test/relying-party.ts'

import { BETTER } from './mailed-code-rows.ts'
import { type Attack, PASSWORD, type Row, type World } from './world.ts'

const OUTDATED =
  '403 This page was open for too long, or your browser keeps no cookies for it. Please try again.'

/** A form that would do what it is for. */
interface Filled {
  readonly browser: FormBrowser
  readonly page: Answer
  readonly fields: Readonly<Record<string, string>>
}

const FORMS: Readonly<Record<string, (world: World) => Promise<Filled>>> = {
  async login(world) {
    const { email } = await world.user()
    return filled(world, 'login', { username: email, password: PASSWORD })
  },
  signup: (world) => filled(world, 'signup', { username: world.email(), password: PASSWORD }),
  async forgotPassword(world) {
    const { email } = await world.user()
    return filled(world, 'forgotPassword', { username: email })
  },
  async confirmUser(world) {
    const { browser, page, code } = await world.signingUp()
    return { browser, page, fields: { code } }
  },
  async confirmForgotPassword(world) {
    const { browser, page, code } = await world.recovering()
    return { browser, page, fields: { code, password: BETTER } }
  },
}

async function filled(
  world: World,
  name: string,
  fields: Readonly<Record<string, string>>,
): Promise<Filled> {
  const browser = world.browser()
  return { browser, page: await browser.get(world.one.page(name)), fields }
}

const TOKENS: Readonly<Record<string, (form: Filled, world: World) => Promise<string> | string>> = {
  'without its token': () => '',
  'with a token of another pool': ({ browser }, { admin }) => tokenFor(browser, admin),
  'with a token of another browser': (_, world) => tokenFor(world.browser(), world.one),
}

/** Of the sign-in page of a pool, as that browser is given it. */
async function tokenFor(browser: FormBrowser, party: RelyingParty): Promise<string> {
  const { text } = await browser.get(party.page('login'))
  return hiddenFields(text)['_csrf'] ?? ''
}

const SENDERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'from another site': { 'sec-fetch-site': 'cross-site' },
  'from a neighbouring domain': { 'sec-fetch-site': 'same-site' },
  'from another origin': { origin: 'https://evil.test' },
  'from an origin that hides itself': { origin: 'null' },
}

const forgedRows = Object.entries(FORMS).flatMap(([name, open]) =>
  Object.entries(TOKENS).map(([how, forge]): Row => [
    `the form of ${name} ${how}`,
    OUTDATED,
    async (world) => {
      const form = await open(world)
      const _csrf = await forge(form, world)
      return { send: () => form.browser.submit(form.page, { ...form.fields, _csrf }) }
    },
  ]),
)

const foreignRows = Object.entries(FORMS).flatMap(([name, open]) =>
  Object.entries(SENDERS).map(([whence, headers]): Row => [
    `the form of ${name} ${whence}`,
    '403 Forbidden',
    async (world) => {
      const { browser, page, fields } = await open(world)
      return { send: () => browser.submit(page, fields, headers) }
    },
  ]),
)

export const FORM_ROWS: readonly Row[] = [
  ...forgedRows,
  ...foreignRows,
  ['the form of login, its fields in the address', OUTDATED, inTheAddress],
  ['the form of login with a field twice', '400 ValidationError', withFieldTwice],
  ['the form of login as JSON', '415 UnsupportedMediaType', asJson],
  ['the form of login, too long', '413 PayloadTooLarge', tooLong],
  ['the form of logout without its token', '303 logout', logout(() => '')],
  [
    'the form of logout with the token of a page',
    '303 logout',
    logout((browser, { one }) => tokenFor(browser, one)),
  ],
]

const loginForm = (world: World): Promise<Filled> =>
  (FORMS['login'] ?? FORMS['signup'])?.(world) ?? Promise.reject(new Error('No form'))

async function inTheAddress(world: World): Promise<Attack> {
  const { browser, page, fields } = await loginForm(world)
  const query = new URLSearchParams({ ...hiddenFields(page.text), ...fields }).toString()
  return { send: () => browser.post(`${actionOf(page.text)}&${query}`, '') }
}

async function withFieldTwice(world: World): Promise<Attack> {
  const { browser, page, fields } = await loginForm(world)
  const body = new URLSearchParams({ ...hiddenFields(page.text), ...fields }).toString()
  return { send: () => browser.post(actionOf(page.text), `${body}&username=eve@mail.test`) }
}

async function asJson(world: World): Promise<Attack> {
  const { browser, page, fields } = await loginForm(world)
  const body = JSON.stringify({ ...hiddenFields(page.text), ...fields })
  const headers = { 'content-type': 'application/json' }
  return { send: () => browser.post(actionOf(page.text), body, headers) }
}

async function tooLong(world: World): Promise<Attack> {
  const { browser, page, fields } = await loginForm(world)
  return { send: () => browser.submit(page, { ...fields, more: 'x'.repeat(70_000) }) }
}

/** No harm is done: the browser is asked again, and stays signed in. */
function logout(forge: (browser: FormBrowser, world: World) => Promise<string> | string) {
  return async (world: World): Promise<Attack> => {
    const { one } = world
    const { token } = await one.signIn(await one.user(world.email()))
    const browser = world.browser()
    browser.cookies.set('croft_session', token)
    const page = await browser.get(`${one.path}/logout`)
    expect(page.text).toContain('Sign out')
    const _csrf = await forge(browser, world)
    const body = new URLSearchParams({ _csrf }).toString()
    return { send: () => browser.post(`${one.path}/logout`, body) }
  }
}

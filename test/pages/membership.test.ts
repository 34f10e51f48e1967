import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Role } from '#base/actor.ts'
import { LANGUAGES, type Language } from '#base/language.ts'
import { FormBrowser, textOf } from '#test/form-browser.ts'
import { linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PASSWORD = 'Correct-horse-7'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: ['one.test', 'two.test'] })
  const invite = new URL(linkIn(await mailTo(stack, 'ann@one.test', 'invite')))
  const visitor = new FormBrowser(stack, 'one.test')
  const page = await visitor.get(`${invite.pathname}${invite.search}`)
  await visitor.submit(page, { password: PASSWORD, confirmPassword: PASSWORD })
})
afterAll(() => stack[Symbol.asyncDispose]())

/** What the account's page says to a member of that role; `user@one.test` is one. */
async function account(host: string, role: Role, language: Language = 'en'): Promise<string> {
  await stack.adminToken(host, role)
  const party = await RelyingParty.of(stack, host, 'admin')
  const email = role === 'super-admin' ? `ann@${host}` : `${role}@${host}`
  const { cookie } = await party.signIn(await party.user(email))
  const headers = { cookie, accept: 'text/html', 'accept-language': language }
  const { status, text } = await stack.call(host, 'GET', `${party.path}/account`, { headers })
  expect(status).toBe(200)
  return textOf(text)
}

const own = (host: string, address: string, owner: string) =>
  stack.portal('POST', `/sites/${host}/mailboxes`, { address, owners: [owner] })

describe('the account’s page of a member of the admin pool', () => {
  test.each([
    ['super-admin', 'Your role covers everything of one.test', true],
    ['admin', 'Your role covers the users, mailboxes, data and visitors of one.test', true],
    ['user', 'Your role covers the mail of your mailboxes at one.test', false],
  ] as const)('says what a %s can do', async (role, words, isForDevelopers) => {
    const text = await account('one.test', role)
    expect(text).toContain('What you can do here')
    expect(text).toContain(words)
    expect(text.includes('/admin/public/config')).toBe(isForDevelopers)
    expect(text).toContain('You own none yet')
    // No page of ours does it.
    expect(text).not.toMatch(/You invite|makes one for you/)
  })

  test.each(LANGUAGES)('names commands and routes to developers only, in %s', async (language) => {
    await stack.adminToken('two.test', 'user')
    await own('two.test', `${language}@two.test`, 'user@two.test')
    const text = await account('two.test', 'user', language)
    expect(text).toContain(`${language}@two.test`)
    expect(text).not.toMatch(/croft |\/admin\/|\bAPI\b/)
  })

  test('lists the mailboxes that they own, and no others', async () => {
    await stack.adminToken('two.test', 'admin')
    await stack.adminToken('two.test', 'user')
    await own('two.test', 'info@two.test', 'user@two.test')
    await own('two.test', 'old@two.test', 'user@two.test')
    await own('two.test', 'boss@two.test', 'admin@two.test')
    await stack.portal('DELETE', '/sites/two.test/mailboxes/old@two.test')
    const text = await account('two.test', 'user')
    const { smtpHostname, submissionPort } = stack.context.config.mail
    expect(text).toContain(
      `info@two.test Mail programs send at ${smtpHostname}, port ${submissionPort}, with STARTTLS.`,
    )
    expect(text).toContain('old@two.test It is disabled')
    expect(text).toContain('Passwords of mail programs')
    expect(text).not.toContain('boss@two.test')
    // Not all of the site's either, as the API lists them to admins.
    const admin = await account('two.test', 'admin')
    expect(admin).toContain('boss@two.test')
    expect(admin).not.toContain('info@two.test')
    expect(admin).toContain('croft mailbox credential create')
  })

  test('shows the first of many', async () => {
    const owner = 'ann@one.test'
    for (let at = 10; at < 31; at++) await own('one.test', `box-${at}@one.test`, owner)
    const text = await account('one.test', 'super-admin')
    expect(text).toContain('box-29@one.test')
    expect(text).not.toContain('box-30@one.test')
    expect(text).toContain('You own more mailboxes than are shown here')
  })

  test('is silent about all of it to visitors', async () => {
    const party = await RelyingParty.of(stack, 'one.test')
    const { cookie } = await party.signIn(await party.user('vic@visitors.test'))
    const { text } = await stack.call('one.test', 'GET', `${party.path}/account`, {
      headers: { cookie, accept: 'text/html' },
    })
    expect(textOf(text)).toContain('vic@visitors.test')
    expect(textOf(text)).not.toContain('What you can do here')
  })
})

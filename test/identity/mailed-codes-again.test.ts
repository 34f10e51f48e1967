import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { BETTER, Owner, PASSWORD } from '#test/account-owner.ts'
import { FormBrowser } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import { allMailTo, codeIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

const untilDone = (email: string) =>
  vi.waitUntil(
    async () => {
      const jobs = await asSuperuser(
        stack,
        (sql) => sql`
          select state from pgboss.job where name = 'account-mail' and data->>'email' = ${email}`,
      )
      return jobs.length > 0 && jobs.every(({ state }) => state === 'completed')
    },
    { timeout: 20_000 },
  )

/** As after a crash between the job's commit and the note that it is done. */
async function runAgain(email: string): Promise<void> {
  await untilDone(email)
  await asSuperuser(
    stack,
    (sql) => sql`
      update pgboss.job set state = 'retry', start_after = now(), completed_on = null
      where name = 'account-mail' and data->>'email' = ${email}`,
  )
  await untilDone(email)
}

/** The page that takes the code. */
async function asked(browser: FormBrowser, form: Answer, username: string): Promise<Answer> {
  const { headers } = await browser.submit(form, { username })
  return browser.get(headers['location'] ?? '')
}

test('a code for a new password stays good when the job that mailed it runs again', async () => {
  const { party, email } = await Owner.of(stack, 'one.test')
  const browser = new FormBrowser(stack, 'one.test')
  const form = await browser.get(party.page('forgotPassword'))
  const reset = await asked(browser, form, email)
  const code = codeIn(await mailTo(stack, email, 'reset'))
  await runAgain(email)
  const done = await browser.submit(reset, { code, password: BETTER })
  expect(done.status, done.text).toBe(303)
  expect(await allMailTo(stack, email, 'reset')).toHaveLength(1)
})

test('a second request has a code of its own, and the first one’s is of no use then', async () => {
  const { party, email } = await Owner.of(stack, 'one.test')
  const browser = new FormBrowser(stack, 'one.test')
  const form = await browser.get(party.page('forgotPassword'))
  const reset = await asked(browser, form, email)
  const first = await mailTo(stack, email, 'reset')
  await browser.submit(form, { username: email })
  const second = await mailTo(stack, email, 'reset', first)
  const [wrong, right] = [codeIn(first), codeIn(second)]
  const answer = async (code: string) =>
    (await browser.submit(reset, { code, password: BETTER })).status
  expect(await answer(wrong)).toBe(400)
  expect(await answer(right)).toBe(303)
})

test('a code that a sign-up requested again stays valid when the job that mailed it runs again', async () => {
  const party = await RelyingParty.of(stack, 'one.test')
  const email = 'once-more@visitors.test'
  const browser = new FormBrowser(stack, 'one.test')
  const signUp = await browser.get(party.page('signup'))
  const sent = await browser.submit(signUp, { username: email, password: PASSWORD })
  const page = await browser.get(sent.headers['location'] ?? '')
  const first = await mailTo(stack, email, 'verification')
  await browser.submit(page, { action: 'resend' })
  const code = codeIn(await mailTo(stack, email, 'verification', first))
  await runAgain(email)
  const confirmed = await browser.submit(page, { code })
  expect(confirmed.status, confirmed.text).toBe(303)
  expect(await allMailTo(stack, email, 'verification')).toHaveLength(2)
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import { mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

const GERMAN = 'Ihre Einladung zu one.test'
const ENGLISH = 'Your invitation to one.test'

let stack: Stack
let pool: AdminPool
beforeAll(async () => {
  stack = await startStack()
  pool = new AdminPool(stack, 'one.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

/** An admin who last signed in with pages of that language. */
async function adminIn(language: string | null): Promise<Member> {
  const admin = await pool.joined('admin')
  await stack.inSite('one.test', (tx, { siteId }) =>
    tx.db
      .updateTable('pool_user')
      .set({ language })
      .where('site_id', '=', siteId)
      .where('sub', '=', admin.userId)
      .execute(),
  )
  return admin
}

let made = 0
async function subjectOfInvite(by: Member, headers: Record<string, string> = {}) {
  const email = `new-${++made}@out.test`
  const answer = await by.call('POST', '/users', { body: { email }, headers })
  expect(answer.status, answer.text).toBe(200)
  return (await mailTo(stack, email, 'invite')).subject
}

describe('an invitation to a user without a language yet', () => {
  test('is in that of the inviting admin’s last sign-in', async () => {
    expect(await subjectOfInvite(await adminIn('de'))).toBe(GERMAN)
  })

  test('is in that of the request, where it says one', async () => {
    const headers = { 'accept-language': 'en' }
    expect(await subjectOfInvite(await adminIn('de'), headers)).toBe(ENGLISH)
  })

  test('is in English where neither is known, and of the operator', async () => {
    expect(await subjectOfInvite(await adminIn(null))).toBe(ENGLISH)
    await stack.createSite({ domain: 'three.test', superAdmins: ['ann@three.test'] })
    const { subject } = await mailTo(stack, 'ann@three.test', 'invite')
    expect(subject).toBe('Your invitation to three.test')
  })

  test('is sent again in the language of its sender', async () => {
    const { userId } = await pool.invited({ email: 'again@out.test' })
    const answer = await (await adminIn('fr')).call('POST', `/users/${userId}/invite/resend`)
    expect(answer.status).toBe(200)
    await expect
      .poll(async () => (await mailTo(stack, 'again@out.test', 'invite')).subject)
      .toContain('Votre invitation')
  })
})

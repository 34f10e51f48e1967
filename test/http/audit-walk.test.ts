import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import type { Answer } from '#test/http-client.ts'
import { storeMail } from '#test/mail-rows.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { isChanging, routeRows } from '#test/route-table.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HOST = 'walk.test'
const DEFINITION = { groups: [{ groupName: 'defined' }] }

/** Routes that need more than a call: a mailed link, a browser, a second factor, a repository, a sandbox. Their own tests look at their entries. */
const ELSEWHERE = [
  'POST /admin/api/profile/password password.changed',
  'POST /admin/api/profile/password sessions.revoked',
  'DELETE /admin/api/users/:userId/second-factor second-factor.disabled',
  'DELETE /admin/data/users/:sub/second-factor second-factor.disabled',
  'POST /admin/data/operations/:operation/profile operation.profiled',
  'POST /admin/public/address/confirm user.changed',
  'POST /admin/public/address/confirm sessions.revoked',
  'POST /admin/public/address/undo user.changed',
  'POST /admin/public/address/undo sessions.revoked',
  'POST /admin/public/forwarding/verify mail-forwarding.verified',
  'POST /admin/public/onboarding/super-admin invite.redeemed',
  'POST /admin/public/onboarding/super-admin invite.sent',
  'POST /admin/public/onboarding/user invite.redeemed',
  'POST /admin/public/onboarding/user invite.sent',
  'POST /data/auth/password/add password.added',
  'POST /portal/api/site-imports site.imported',
  'POST /portal/api/site-imports invite.sent',
  'POST /portal/api/sites/:siteId/auth/providers/google/callback settings.changed',
  'POST /portal/api/sites/:siteId/deployments/fetch deployment.activated',
  'POST /portal/api/sites/:siteId/dkim/activate dkim.activated',
  'POST /portal/api/sites/:siteId/operations/:operation/profile operation.profiled',
  'DELETE /portal/api/sites/:siteId/admin-users/:userId/second-factor second-factor.disabled',
  'DELETE /portal/api/sites/:siteId/second-factor second-factor.disabled',
  'DELETE /portal/api/sites/:siteId/users/:sub/second-factor second-factor.disabled',
  'POST /site.git/git-receive-pack deployment.activated',
]

let stack: Stack
let ann: Member
let pool: AdminPool
beforeAll(async () => {
  stack = await startStack({ sites: [HOST], works: false })
  pool = new AdminPool(stack, HOST)
  ann = await pool.first()
})
afterAll(() => stack[Symbol.asyncDispose]())

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>

const done = async (answer: Promise<Answer>): Promise<Answer> => {
  const settled = await answer
  expect.soft(settled.status, settled.text).toBeLessThan(300)
  return settled
}
const admin: Call = (method, path, body) =>
  done(ann.call(method, path, body === undefined ? {} : { body }))
const data: Call = (method, path, body) =>
  done(
    stack.call(HOST, method, `/admin/data${path}`, {
      token: ann.token,
      ...(body !== undefined && { body }),
    }),
  )
const portal: Call = (method, path, body) =>
  done(stack.portal(method, `/sites/${HOST}${path}`, body))

/** The routes that both of them have, below `/mailboxes`, with the users that own. */
async function changeMailboxes(call: Call, address: string): Promise<void> {
  const [first, second] = [await pool.joined('user'), await pool.joined('user')]
  const box = `/mailboxes/${address}`
  await call('POST', '/mailboxes', { address, owners: [first.userId] })
  await call('POST', `${box}/owners`, { owners: [second.userId] })
  await call('DELETE', `${box}/owners`, { owners: [first.userId] })
  await call('PATCH', box, { owners: [first.userId] })
  await call('PUT', `${box}/settings`, { trashRetentionDays: 7 })
  const targets = { targets: ['away@else.test'] }
  await call('POST', `${box}/forwarding-targets`, targets)
  await call('PUT', `${box}/forwarding`, { enabled: true })
  await call('DELETE', `${box}/forwarding-targets`, targets)
  const made = await call('POST', `${box}/submission-credentials`, { name: 'A mail program' })
  await call('DELETE', `${box}/submission-credentials/${made.json.credentialId}`)
  await call('PUT', `/aliases/also-${address}`, { targets: [address] })
  await call('DELETE', `/aliases/also-${address}`)
  const recipients = { recipients: [first.email] }
  await call('POST', '/contact-recipients', recipients)
  await call('DELETE', '/contact-recipients', recipients)
  await suppress('gone@else.test')
  await call('DELETE', '/mail-suppressions/gone@else.test')
  await call('DELETE', box)
  await call('POST', `${box}/restore`, { owners: [first.userId] })
  await call('PUT', `/aliases/also-${address}`, { targets: [address] })
  await call('DELETE', box)
  await call('POST', `${box}/purge`, { confirm: true })
}

const suppress = (address: string) =>
  stack.inSite(HOST, ({ db, siteId }) =>
    db
      .insertInto('mail_suppression')
      .values({ site_id: siteId, address, reason: 'BOUNCE', detail: '', created_at: new Date() })
      .execute(),
  )

async function purgeMessages(): Promise<void> {
  const mailbox = `purges@${HOST}`
  await admin('POST', '/mailboxes', { address: mailbox, owners: [ann.userId] })
  const stored = async () => (await storeMail(stack, { mailbox })).messageId
  await admin('POST', `/messages/${await stored()}/purge`)
  await admin('POST', '/messages/purge', { messageIds: [await stored()], force: true })
  await admin('DELETE', `/messages/${await stored()}`)
  await admin('POST', '/messages/purge-deleted', { confirm: true, filters: { includeTrash: true } })
  await stored()
  await admin('POST', '/messages/purge-all', { confirm: true })
}

async function changeUsers(): Promise<void> {
  const { userId } = await pool.invited()
  await admin('POST', `/users/${userId}/invite/resend`)
  await admin('PATCH', `/users/${userId}`, { role: 'admin' })
  await admin('PUT', `/users/${userId}/profile`, { primaryEmail: `moved@${HOST}` })
  await admin('DELETE', `/users/${userId}`)
  await admin('POST', '/super-admin-invites/resend', {})
}

/** Signs the user in and gives the id of that sign-in. */
async function signIn(party: RelyingParty, email: string, list: string): Promise<string> {
  await party.tokens(email)
  const { json } = await portal('GET', `/sessions?user=${email}&${list}`)
  return json.items[0].sessionId
}

async function endSessions(): Promise<void> {
  const party = await RelyingParty.of(stack, HOST, 'admin')
  const { email, userId } = await pool.joined('user')
  const next = () => signIn(party, email, 'pool=admin')
  const own = async () => {
    const { access_token: token } = await party.tokens(email)
    return (method: string, path: string) =>
      done(stack.call(HOST, method, `/admin/api/profile/sessions${path}`, { token }))
  }
  const call = await own()
  await call('DELETE', `/${await next()}`)
  await next()
  await call('DELETE', '')
  await admin('DELETE', `/users/${userId}/sessions/${await next()}`)
  await next()
  await admin('DELETE', `/users/${userId}/sessions`)
  await portal('DELETE', `/sessions/${await next()}?user=${email}&pool=admin`)
  await next()
  await portal('DELETE', `/sessions?user=${email}&pool=admin`)
  await next()
  await portal('DELETE', `/admin-users/${userId}/sessions/${await next()}`)
  await next()
  await portal('DELETE', `/admin-users/${userId}/sessions`)
  await portal('DELETE', `/admin-users/${userId}`)
}

/** The routes that both have, below `/users`. */
async function changeVisitor(call: Call, name: string): Promise<void> {
  const party = await RelyingParty.of(stack, HOST)
  const email = `${name}@else.test`
  const sub = await party.user(email)
  await party.tokens(email)
  await call('POST', `/users/${sub}/disable`)
  await call('POST', `/users/${sub}/enable`)
  await call('DELETE', `/users/${sub}/sessions/${await signIn(party, email, 'pool=data')}`)
  await party.tokens(email)
  await call('POST', `/users/${sub}/sign-out`)
  await call('DELETE', `/users/${sub}`)
}

async function changeRuntime(): Promise<void> {
  const fn = { type: 'lambdaFunction', name: 'fn', config: { code: 'export default () => 1' } }
  const { resourceId } = (await data('POST', '/resources', fn)).json
  await data('PATCH', `/resources/${resourceId}`, { name: 'renamed' })
  await data('POST', '/operations', { operation: 'op', lambdaResourceId: resourceId })
  const open = { lambdaResourceId: resourceId, auth: { mode: 'public' } }
  await data('POST', '/operations', { operation: 'op', ...open })
  await data('PUT', '/jobs/job', { operation: 'op' })
  await data('PUT', '/jobs/job', { operation: 'op', enabled: false })
  await data('POST', '/jobs/job')
  await data('DELETE', '/jobs/job')
  await data('DELETE', '/operations/op')
  await data('DELETE', `/resources/${resourceId}`)
  await data('PUT', '/env-vars', { variables: { KEY: { value: 'x' } } })
  await portal('PUT', '/env-vars', { variables: { KEY: { value: 'y' } } })
  await data('DELETE', '/env-vars')
  await data('POST', '/compute/execute', { code: 'export default () => 1' })
  await data('POST', '/groups', { groupName: 'staff' })
  await stack.dataToken(HOST, { user: 'member@else.test' })
  await data('POST', '/groups/staff/users', { username: 'member@else.test' })
  await data('DELETE', '/groups/staff/users', { username: 'member@else.test' })
  await data('DELETE', '/groups/staff')
}

async function defineRuntime(): Promise<void> {
  await data('PUT', '/iac/definitions/kept', { definition: DEFINITION })
  const saving = {
    mode: 'apply',
    definition: DEFINITION,
    persistDefinition: true,
    definitionProfileName: 'kept',
  }
  const { jobId } = (await data('POST', '/iac/jobs', saving)).json
  await data('POST', `/iac/jobs/${jobId}/cancel`)
  await portal('POST', '/iac/jobs', saving)
  await data('DELETE', '/iac/definitions/kept')
}

async function changeSite(): Promise<void> {
  await done(
    stack.portal('POST', '/sites', { domain: 'another.test', superAdmins: ['bob@else.test'] }),
  )
  await portal('PATCH', '', { deploymentSettings: { cors: { origins: ['https://a.test'] } } })
  await portal('PUT', '/page-branding', { color: '#123456' })
  await admin('PUT', '/page-branding', { color: '#654321' })
  const adminVerificationEmail = { subject: 'S {{code}}', htmlBody: '<p>{{code}}</p>' }
  await admin('PUT', '/auth-email-branding', { adminVerificationEmail })
  await admin('PUT', '/profile', { settings: { nickname: 'Ann' } })
  await portal('PATCH', '/auth', { data: { selfSignUp: false } })
  await portal('PUT', '/auth/providers/google', { clientId: 'id', clientSecret: 'secret' })
  await portal('DELETE', '/auth/providers/google')
  await portal('POST', '/dkim/rotate')
  await portal('POST', '/mail-reparse', {})
  await portal('POST', '/tokens', { user: 'minted@else.test', pool: 'data' })
  await portal('POST', '/export', {})
  const client = { name: 'Desk', redirectUris: ['https://desk.test/back'] }
  const { clientId } = (await portal('POST', '/clients', client)).json
  await portal('PATCH', `/clients/${clientId}`, { name: 'Help desk' })
  await portal('POST', `/clients/${clientId}/secret`, {})
  await portal('DELETE', `/clients/${clientId}`)
}

async function deploySite(): Promise<void> {
  for (const call of [admin, portal]) {
    const { tokenId } = (await call('POST', '/deploy-tokens', { name: 'CI' })).json
    await call('DELETE', `/deploy-tokens/${tokenId}`)
  }
  await portal('PUT', '/deploy-webhook')
  await portal('DELETE', '/deploy-webhook')
  const desk = new DeployDesk(stack)
  await desk.deploy(HOST, { 'index.html': 'one' })
  await desk.deploy(HOST, { 'index.html': 'two' })
  await portal('POST', '/deployments/rollback', {})
}

test('every route writes to the audit trail what it declares', { timeout: 60_000 }, async () => {
  expect(decodeJwt(ann.token).sub).toBe(ann.userId)
  await changeMailboxes(admin, `first@${HOST}`)
  await changeMailboxes(portal, `second@${HOST}`)
  await purgeMessages()
  await changeUsers()
  await endSessions()
  await changeVisitor(data, 'vic')
  await changeVisitor(portal, 'val')
  await changeRuntime()
  await defineRuntime()
  await deploySite()
  await changeSite()
  await portal('POST', '/keys/rotate', { pool: 'data' })
  const declared = routeRows(stack.app.routes)
    .filter(isChanging)
    .flatMap(({ name, audit }) =>
      Array.isArray(audit) ? audit.map((event) => `${name} ${event}`) : [],
    )
  const missing = declared.filter((entry) => !stack.app.recorded.has(entry))
  expect(missing.toSorted()).toEqual(ELSEWHERE.toSorted())
})

// A program that uses the installed package: its arguments are the site's address and two tokens.
import assert from 'node:assert/strict'
import process from 'node:process'

import { CroftError, createClient, paginate } from 'croft-sdk'
import { CroftError as ServerError, createServerClient } from 'croft-sdk/server'

const [baseUrl, visitorToken, adminToken] = process.argv.slice(2)

const visitor = createClient({ baseUrl, token: async () => visitorToken })
const hello = await visitor.publicData('hello', { name: 'Ada' })
const echo = await visitor.data('echo', { x: 'ü' })

const admin = createServerClient({ baseUrl, token: adminToken })
await admin.admin.post('/admin/data/groups', { body: { groupName: 'editors' } })
await admin.admin.post('/admin/data/groups', { body: { groupName: 'readers' } })
const groups = []
const pages = paginate((nextToken) =>
  admin.admin.get('/admin/data/groups', { query: { limit: 1, nextToken } }),
)
for await (const { groupName } of pages) groups.push(groupName)
for (const groupName of groups) {
  await admin.admin.delete('/admin/data/groups/{groupName}', { params: { groupName } })
}

const failures = []
const failed = async (call) => {
  await call.then(
    () => assert.fail('it went well'),
    (error) => {
      assert(error instanceof CroftError && error instanceof ServerError)
      assert.equal(typeof error.requestId, 'string')
      failures.push(`${error.status} ${error.code}`)
    },
  )
}
await failed(visitor.data('nothing'))
await failed(visitor.publicData('hello', { name: 7 }))
await failed(visitor.data('echo', {}, { token: 'wrong' }))
await failed(visitor.admin.get('/admin/data/groups'))
await failed(admin.admin.post('/admin/data/groups', { body: {} }))

const aborting = new AbortController()
const slow = visitor.publicData('slow', {}, { signal: aborting.signal })
aborting.abort(new Error('enough'))
const aborted = await slow.catch((error) => error.message)

process.stdout.write(`${JSON.stringify({ hello, echo, groups, failures, aborted })}\n`)

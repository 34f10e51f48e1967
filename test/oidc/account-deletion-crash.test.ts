import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { PASSWORD } from '#test/account-owner.ts'
import { CroftProcess } from '#test/croft-process.ts'
import { accountOf, deletingAccount, endWeek, sessionsWait } from '#test/deletion-desk.ts'
import { allMailTo, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'
import { openFolder } from '#test/temporary-folder.ts'

const HOST = 'one.test'

let cleanUp: AsyncDisposableStack
/** It answers requests; the queues are left to processes on the same database. */
let stack: Stack
let dataDir: string
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack()
  stack = cleanUp.use(await startStack({ works: false }))
  dataDir = join(await openFolder(cleanUp, 'croft-deletion-'), 'data')
})
afterAll(() => cleanUp.disposeAsync())

async function startWorker() {
  const env = {
    DATABASE_URL: stack.database.url,
    CROFT_MASTER_KEY: stack.masterKey.toString('base64'),
    CROFT_OPERATOR_KEY: stack.operatorKey,
  }
  const croft = cleanUp.use(await CroftProcess.start({ dataDir, env }))
  const headers = { authorization: `Bearer ${stack.operatorKey}` }
  const outbox = {
    portal: (method: string, path: string) =>
      croft.call({ method, path: `/portal/api${path}`, headers }),
  }
  return { croft, outbox }
}

test('an account is whole or gone, and goes after all, when the service is killed while it removes it', async () => {
  const [first, second] = [await deletingAccount(stack, HOST), await deletingAccount(stack, HOST)]
  const owners = [first, second]
  const { croft, outbox } = await startWorker()
  for (const { email } of owners) await mailTo(outbox, email, 'account-deleting')
  await asSuperuser(stack, async (sql) => {
    const rowsOf = async () => ({
      account: (await sql`select * from pool_user where sub = ${first.sub}`).length,
      password: (await sql`select * from user_password where sub = ${first.sub}`).length,
      deletion: (await sql`select * from account_deletion where sub = ${first.sub}`).length,
    })
    const held = Promise.withResolvers<void>()
    const holding = Promise.withResolvers<void>()
    const holder = asSuperuser(stack, (own) =>
      own.begin(async (tx) => {
        // The removal comes as far as here: its account is deleted by then, and the password about to be.
        await tx`select from user_password where sub = ${first.sub} for update`
        holding.resolve()
        await held.promise
      }),
    )
    await holding.promise
    for (const owner of owners) await endWeek(sql, owner)
    await sessionsWait(sql, 1)
    expect(await rowsOf()).toEqual({ account: 1, password: 1, deletion: 1 })
    expect((await accountOf(stack, first)).json.status).toBe('DELETING')
    await croft.kill()
    held.resolve()
    await holder
    expect(await first.mayUse(PASSWORD)).toBe(false)
  })

  const again = await startWorker()
  for (const owner of owners) {
    await mailTo(again.outbox, owner.email, 'account-deleted')
    expect((await accountOf(stack, owner)).status).toBe(404)
    expect(await allMailTo(again.outbox, owner.email, 'account-deleted')).toHaveLength(1)
  }
  const left = await asSuperuser(
    stack,
    (sql) => sql`
      select 1 from user_password where sub in ${sql(owners.map(({ sub }) => sub))}
      union all select 1 from account_deletion where sub in ${sql(owners.map(({ sub }) => sub))}`,
  )
  expect(left).toHaveLength(0)
  await again.croft.stop()
})

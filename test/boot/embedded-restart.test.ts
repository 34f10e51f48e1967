import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { CroftProcess, freePort } from '#test/croft-process.ts'
import { portalOf } from '#test/operator.ts'
import { isRunning } from '#test/process-table.ts'
import { openFolder } from '#test/temporary-folder.ts'

let cleanUp: AsyncDisposableStack
let options: { dataDir: string; port: number }
let croft: CroftProcess
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  const folder = await openFolder(cleanUp, 'croft-boot-')
  options = { dataDir: join(folder, 'data'), port: await freePort() }
  croft = cleanUp.use(await CroftProcess.start(options))
  await croft.printed('croft site verify')
})
afterEach(() => cleanUp.disposeAsync())

const said = (message: string) => croft.log.filter(({ msg }) => msg === message)

function postmaster(): number {
  const pid = croft.postgres()?.pid
  if (pid === undefined) throw new Error('No postmaster runs')
  return pid
}

/** As the kernel does it when memory runs out. */
async function killPostmaster(): Promise<void> {
  process.kill(postmaster(), 'SIGKILL')
  await croft.until('its end is noticed', () => said('embedded postgres ended').length > 0)
}

/**
 * A process of the old server that does not end keeps the next one from starting, until it is killed. It is one that serves no
 * connection: a frozen one would keep those who wait for its answer waiting, too.
 */
async function killPostmasterAlone(): Promise<() => void> {
  const parent = postmaster()
  const orphan = croft
    .processes()
    .find((one) => one.parent === parent && one.command.startsWith('postgres: checkpointer'))
  if (orphan === undefined) throw new Error('The postmaster has no checkpointer')
  process.kill(orphan.pid, 'SIGSTOP')
  const end = () => {
    if (isRunning(orphan)) process.kill(orphan.pid, 'SIGKILL')
  }
  cleanUp.defer(end)
  await killPostmaster()
  return end
}

async function createSite(domain: string): Promise<boolean> {
  return portalOf(croft)
    .createSite(domain)
    .then(
      () => true,
      () => false,
    )
}

async function domains(): Promise<string[]> {
  return (await portalOf(croft).sites()).map(({ domain }) => domain)
}

const isReady = () => croft.isReady()

describe('an embedded database that is killed under its service', () => {
  test('is started again, time after time, with all that was acknowledged', async () => {
    const acknowledged: string[] = []
    for (const round of [1, 2]) {
      const killed = postmaster()
      const name = (serial: number) => `site-${round}-${serial}.test`
      let serial = 0
      let isOver = false
      const writing = (async () => {
        while (!isOver) {
          const domain = name(serial++)
          if (await createSite(domain)) acknowledged.push(domain)
        }
      })()
      await croft.until('something is written', () => acknowledged.includes(name(0)))
      process.kill(killed, 'SIGKILL')
      await croft.until(
        'the database is back',
        () => said('embedded postgres started again').length === round,
      )
      const written = acknowledged.length
      await croft.until('something is written again', () => acknowledged.length > written)
      isOver = true
      await writing
      expect(said('embedded postgres ended')[round - 1]).toMatchObject({
        level: 'error',
        postgresPid: killed,
        signal: 'SIGKILL',
        postgresLog: expect.stringMatching(/postgres\.log$/),
      })
    }
    await croft.until('it is ready', isReady)
    expect(await domains()).toEqual(expect.arrayContaining(acknowledged))
    expect(await croft.stop()).toEqual({ code: 0, signal: null })
    expect(croft.leftovers()).toEqual([])
    expect(said('embedded postgres ended')).toHaveLength(2)
  })

  test('waits for the remains of the old one, and readiness names it', async () => {
    const endOrphan = await killPostmasterAlone()
    await croft.until('a start fails', () => said('embedded postgres not started again').length > 1)
    expect(await croft.call({ path: '/readyz' })).toMatchObject({
      status: 503,
      json: { checks: { postgres: 'does not answer' } },
    })
    endOrphan()
    await croft.until('it is ready', isReady)
    expect(await createSite('after.test')).toBe(true)
    expect(await croft.stop()).toEqual({ code: 0, signal: null })
  })

  test('does not hold up the end of its service, which says what is missing', async () => {
    expect(await createSite('before.test')).toBe(true)
    const endOrphan = await killPostmasterAlone()
    // A client that reconnects after ever longer pauses has come to long ones by now.
    await croft.until('starts fail', () => said('embedded postgres not started again').length > 5)
    expect(await croft.stop()).toEqual({ code: 1, signal: null })
    // This is said when all is closed; a service that is held up says the other, and ends with the same code.
    expect(croft.output).toMatch(/croft: The embedded PostgreSQL in ".*" had ended before/)
    expect(said('not stopped in time')).toEqual([])
    endOrphan()

    croft = cleanUp.use(await CroftProcess.start(options))
    expect(await domains()).toContain('before.test')
  })
})

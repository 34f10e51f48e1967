import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { type CroftOptions, CroftProcess, freePort } from '#test/croft-process.ts'
import { portalOf } from '#test/operator.ts'
import { openFolder } from '#test/temporary-folder.ts'

/** Of the 30 s that supervisors give a process. */
const DRAIN_MS = 25_000
/** Far less than it takes to find out that a process is dead. */
const TAKEN_UP_MS = 6000
const SLEEP =
  'export default ({ payload }) => new Promise((go) => setTimeout(go, payload, "slept"))'

let cleanUp: AsyncDisposableStack
let options: CroftOptions
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  const folder = await openFolder(cleanUp, 'croft-boot-')
  options = { dataDir: join(folder, 'data'), port: await freePort() }
})
afterEach(() => cleanUp.disposeAsync())

async function start(on: 'bun' | 'node') {
  const croft = cleanUp.use(await CroftProcess.start({ ...options, on }))
  await croft.printed('croft site verify')
  return croft
}

/** Starts a run that lasts ten minutes, of a job that lasts a moment the next time; resolves when it runs. */
async function longRun(croft: CroftProcess): Promise<string> {
  const admin = await portalOf(croft).admin('localhost', 'admin@localhost')
  const { resourceId } = (
    await admin('POST', '/admin/data/resources', {
      type: 'lambdaFunction',
      name: 'sleep',
      config: { code: SLEEP, timeoutSeconds: 900 },
    })
  ).json
  const operation = { operation: 'sleep', lambdaResourceId: resourceId, auth: { mode: 'public' } }
  await admin('POST', '/admin/data/operations', operation)
  const called = () =>
    croft.call({ method: 'POST', path: '/data/public/sleep', body: { payload: 0 } })
  await croft.until('the operation is published', async () => (await called()).status === 200)
  await admin('PUT', '/admin/data/jobs/long', { operation: 'sleep', payload: 600_000 })
  const { runId } = (await admin('POST', '/admin/data/jobs/long', {})).json.data
  await croft.until('it runs', async () => (await run(croft, runId)).status === 'running')
  await admin('PUT', '/admin/data/jobs/long', { operation: 'sleep', payload: 1 })
  return runId
}

async function run(croft: CroftProcess, runId: string): Promise<{ status: string }> {
  const admin = await portalOf(croft).admin('localhost', 'admin@localhost')
  return (await admin('GET', `/admin/data/jobs/long/runs/${runId}`)).json
}

describe('a service that is stopped while a job runs that lasts minutes', () => {
  test.each([
    [
      'by SIGTERM to it alone, on Bun',
      'bun',
      (croft: CroftProcess): void => croft.signal('SIGTERM'),
    ],
    [
      'by SIGINT to its process group, on Node',
      'node',
      (croft: CroftProcess): void => void process.kill(-croft.pid, 'SIGINT'),
    ],
  ] as const)(
    '%s, ends in time with all that it started, and the next start runs the job at once',
    async (_how, on, stop) => {
      const croft = await start(on)
      const runId = await longRun(croft)
      expect(croft.postgres()).toBeDefined()
      expect(croft.sandboxHosts()).not.toEqual([])
      const stoppedAt = performance.now()
      stop(croft)
      expect(await croft.ended()).toEqual({ code: 0, signal: null })
      expect(performance.now() - stoppedAt).toBeLessThan(DRAIN_MS)
      expect(croft.leftovers()).toEqual([])
      expect(croft.log.filter(({ level }) => level !== 'info')).toEqual([])
      expect(croft.log.filter(({ msg }) => msg === 'job handed back')).toHaveLength(1)

      const next = cleanUp.use(await CroftProcess.start({ ...options, on }))
      const readyAt = performance.now()
      await next.until(
        'the run is carried out',
        async () => (await run(next, runId)).status === 'succeeded',
      )
      expect(performance.now() - readyAt).toBeLessThan(TAKEN_UP_MS)
      expect(await run(next, runId)).toMatchObject({ attempts: 2, result: 'slept', error: null })
      expect(await next.stop()).toEqual({ code: 0, signal: null })
    },
  )

  test('twice, ends at once, and its database with it', async () => {
    const croft = await start('bun')
    await longRun(croft)
    croft.processes()
    const stoppedAt = performance.now()
    croft.signal('SIGTERM')
    expect(await croft.signalUntilOver('SIGTERM', 8000)).toBe(true)
    expect(performance.now() - stoppedAt).toBeLessThan(5000)
    expect(await croft.ended()).toEqual({ code: 143, signal: null })
    await expect.poll(() => croft.leftovers(), { timeout: 10_000 }).toEqual([])
  })
})

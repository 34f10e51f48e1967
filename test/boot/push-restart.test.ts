import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

import { afterAll, beforeAll, expect, test } from 'vitest'

import type { CroftProcess } from '#test/croft-process.ts'
import { GitClient, type WorkingCopy, siteFiles } from '#test/git-client.ts'
import { type KillableService, killableService } from '#test/killable-service.ts'
import { portalOf } from '#test/operator.ts'
import { shareOf } from '#test/share.ts'

const HOST = 'pushed.localhost'
const KILLS = shareOf(60)

const cleanUp = new AsyncDisposableStack()
let service: KillableService
let git: GitClient
let token: string
beforeAll(async () => {
  service = await killableService(cleanUp)
  git = cleanUp.use(await GitClient.start())
})
afterAll(() => cleanUp.disposeAsync())

const portal = async (croft: CroftProcess, method: string, path: string, body?: unknown) => {
  const answer = await croft.call({
    method,
    path: `/portal/api/sites/${HOST}${path}`,
    headers: { authorization: `Bearer ${service.operatorKey}` },
    ...(body === undefined ? {} : { body }),
  })
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.json
}

const urlAt = (croft: CroftProcess): string => `http://ci:${token}@${HOST}:${croft.port}/site.git`

const answered = async (croft: CroftProcess): Promise<unknown> =>
  (await croft.call({ host: HOST, method: 'POST', path: '/data/public/f', body: {} })).json?.data

const remoteHead = async (copy: WorkingCopy): Promise<string | undefined> =>
  (await copy.ok('ls-remote', 'croft', 'refs/heads/main')).split('\t')[0]

test('a kill -9 in a push leaves the commit before or the one that was pushed, deployed whole', async () => {
  let croft = await service.start()
  await portalOf(croft, service.operatorKey).createSite(HOST)
  token = (await portal(croft, 'POST', '/deploy-tokens', { name: 'CI' })).token
  const copy = await git.workingCopy('work', urlAt(croft))
  const answers = new Map([[await copy.commit(siteFiles('v0')), 'v0']])
  const began = performance.now()
  expect(await copy.push('main')).toMatchObject({ code: 0 })
  const pushMs = performance.now() - began
  let last = await copy.head()

  for (let round = 1; round <= KILLS; round++) {
    const noise = randomBytes(300_000)
    const commit = await copy.commit({ ...siteFiles(`v${round}`), 'src/noise.bin': noise })
    answers.set(commit, `v${round}`)
    const pushing = copy.push('main')
    await delay(Math.random() * pushMs * 1.1)
    await croft.kill()
    const { code } = await pushing
    croft = await service.start()

    const head = await remoteHead(copy)
    expect(code === 0 ? [commit] : [commit, last], `round ${round}`).toContain(head)
    const current = await portal(croft, 'GET', '/deployments/current')
    expect(current.git.commit, `round ${round}`).toBe(head)
    await croft.until(
      'it is served',
      async () => (await answered(croft)) === answers.get(head ?? ''),
    )
    last = head ?? ''
  }

  await copy.commit(siteFiles('end'))
  expect(await copy.push('main')).toMatchObject({ code: 0 })
  expect(await answered(croft)).toBe('end')
  await git.ok('clone', '--quiet', urlAt(croft), 'after')
  expect(await git.ok('-C', 'after', 'fsck', '--full', '--strict')).toBe('')
  expect(await git.ok('-C', 'after', 'rev-parse', 'HEAD')).toBe(await copy.head())
}, 600_000)

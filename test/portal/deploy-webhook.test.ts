import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { siteFiles } from '#test/git-client.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PATH = '/admin/public/webhooks/deploy'
const ZEROS = '0'.repeat(40)

let stack: Stack
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-webhook-'))
  stack = await startStack({ config: { allowFileRepositories: true } })
})
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=ann', '-c', 'user.email=ann@x.test', ...args], {
    encoding: 'utf8',
  }).trim()

/** A site with an external repository and a webhook; `commit` changes the repository. */
async function siteOf(name: string) {
  const domain = `${name}.test`
  const work = join(folder, name)
  git('init', '--quiet', '--initial-branch=main', work)
  const commit = async (answer: string): Promise<string> => {
    await mkdir(join(work, 'dist'), { recursive: true })
    for (const [path, text] of Object.entries(siteFiles(answer))) {
      if (!path.startsWith('src/')) await writeFile(join(work, path), text)
    }
    git('-C', work, 'add', '-A')
    git('-C', work, 'commit', '--quiet', '-m', answer)
    return git('-C', work, 'rev-parse', 'HEAD')
  }
  const repo = { url: `file://${work}` }
  await stack.createSite({ domain, superAdmins: [`ann@${domain}`], repo })
  const made = await stack.portal('PUT', `/sites/${domain}/deploy-webhook`)
  return { domain, commit, secret: made.json.secret as string, url: made.json.url as string }
}

const hmac = (secret: string, body: string) =>
  createHmac('sha256', secret).update(body).digest('hex')
const pushOf = (ref = 'refs/heads/main', after = 'a'.repeat(40)) => JSON.stringify({ ref, after })

const send = (domain: string, headers: Record<string, string>, body = pushOf()) =>
  stack.call(domain, 'POST', PATH, {
    headers: { 'content-type': 'application/json', ...headers },
    body: new TextEncoder().encode(body),
  })

let deliveries = 0
const github = (secret: string, body = pushOf(), more: Record<string, string> = {}) => ({
  'x-github-event': 'push',
  'x-github-delivery': `${++deliveries}`,
  'x-hub-signature-256': `sha256=${hmac(secret, body)}`,
  ...more,
})

const deployed = (domain: string, commit: string) =>
  vi.waitUntil(
    async () => {
      const { json } = await stack.portal('GET', `/sites/${domain}/deployments/current`)
      return json.git?.commit === commit && json.deployedBy.type === 'webhook'
    },
    { timeout: 30_000, interval: 50 },
  )

describe('the webhook of an external repository', () => {
  test('deploys what was pushed, in the format of each forge', async () => {
    const { domain, commit, secret, url } = await siteOf('forges')
    expect(url).toBe(`${stack.context.config.baseUrl.replace('localhost', domain)}${PATH}`)
    const form = `payload=${encodeURIComponent(pushOf())}`
    for (const [forge, headers, body] of [
      ['GitHub', github(secret), pushOf()],
      [
        'GitHub, by a form',
        { ...github(secret, form), 'content-type': 'application/x-www-form-urlencoded' },
        form,
      ],
      [
        'Gitea',
        {
          'x-gitea-event': 'push',
          'x-gitea-delivery': 'g1',
          'x-gitea-signature': hmac(secret, pushOf()),
        },
        pushOf(),
      ],
      [
        'GitLab',
        { 'x-gitlab-event': 'Push Hook', 'x-gitlab-event-uuid': 'l1', 'x-gitlab-token': secret },
        pushOf(),
      ],
    ] as const) {
      const pushed = await commit(forge)
      expect(await send(domain, headers, body), forge).toMatchObject({
        status: 202,
        json: { status: 'queued' },
      })
      await deployed(domain, pushed)
    }
  })

  test('does a delivery once', async () => {
    const { domain, commit, secret } = await siteOf('once')
    const pushed = await commit('first')
    const headers = github(secret)
    expect((await send(domain, headers)).status).toBe(202)
    await deployed(domain, pushed)
    await commit('second')
    expect(await send(domain, headers)).toMatchObject({ status: 200, json: { status: 'repeated' } })
  })

  test('lets other branches, tags and events be', async () => {
    const { domain, secret } = await siteOf('others')
    for (const [body, more] of [
      [pushOf('refs/heads/other'), {}],
      [pushOf('refs/tags/main'), {}],
      [pushOf('refs/heads/main', ZEROS), {}],
      ['not json', {}],
      ['[]', {}],
      ['{"zen":"…"}', { 'x-github-event': 'ping' }],
    ] as const) {
      const answer = await send(domain, github(secret, body, more), body)
      expect(answer, body).toMatchObject({ status: 200, json: { status: 'ignored' } })
    }
  })

  test('refuses a sender that does not know the current secret of this site', async () => {
    const { domain, secret } = await siteOf('refused')
    const other = await siteOf('other')
    const wrong = [
      {},
      github('x'),
      github(other.secret),
      { ...github(secret), 'x-hub-signature-256': '' },
      { ...github(secret), 'x-hub-signature-256': `sha256=${hmac(secret, 'another body')}` },
      { 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': 'wrong' },
      { ...github(secret), 'x-gitlab-token': 'wrong' },
    ]
    for (const headers of wrong) expect((await send(domain, headers)).status).toBe(401)
    const again = await stack.portal('PUT', `/sites/${domain}/deploy-webhook`)
    expect((await send(domain, github(secret))).status).toBe(401)
    expect((await send(domain, github(again.json.secret))).status).toBe(202)
    expect((await stack.portal('DELETE', `/sites/${domain}/deploy-webhook`)).status).toBe(204)
    expect((await send(domain, github(again.json.secret))).status).toBe(401)
    expect((await stack.portal('DELETE', `/sites/${domain}/deploy-webhook`)).status).toBe(404)
    const { items } = (await stack.portal('GET', `/sites/${domain}/audit`)).json
    expect(items[0]).toMatchObject({ event: 'deploy-webhook.ended', actor: 'operator' })
    expect(JSON.stringify(items)).not.toContain(secret)
  })

  test('tells a site with a repository of its own so', async () => {
    await stack.createSite({ domain: 'own.test' })
    const { json } = await stack.portal('PUT', '/sites/own.test/deploy-webhook')
    expect(await send('own.test', github(json.secret))).toMatchObject({
      status: 200,
      json: { status: 'ignored', reason: expect.stringContaining('of its own') },
    })
  })
})

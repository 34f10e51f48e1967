import { randomUUID } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { DeployDesk } from '#test/deploy-desk.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let desk: DeployDesk
beforeAll(async () => {
  stack = await startStack({ sites: [] })
  desk = new DeployDesk(stack)
})
afterAll(() => stack[Symbol.asyncDispose]())

const GIT = { commit: 'a'.repeat(40), branch: 'main', dirty: true }
const OPERATOR = { type: 'operator', name: null }

describe('the history of a site', () => {
  test('says who deployed what, from which commit, and what changed', async () => {
    const { siteId } = await stack.createSite({ domain: 'told.test' })
    const first = await desk.deploy(siteId, { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' })
    const second = await desk.deploy(
      siteId,
      { 'a.txt': 'a', 'b.txt': 'other', 'd.txt': 'd' },
      { git: GIT },
    )
    const { json } = await stack.portal('GET', `/sites/${siteId}/deployments`)
    expect(json.items).toMatchObject([
      {
        deploymentId: second,
        current: true,
        deployedBy: OPERATOR,
        git: GIT,
        activations: [
          {
            activatedBy: OPERATOR,
            reason: 'deploy',
            replacedDeploymentId: first,
            fileChanges: { added: 1, changed: 1, removed: 1 },
          },
        ],
      },
      {
        deploymentId: first,
        current: false,
        git: null,
        activations: [
          { replacedDeploymentId: null, fileChanges: { added: 3, changed: 0, removed: 0 } },
        ],
      },
    ])
  })

  test('has an entry for each time that a deployment became current', async () => {
    const { siteId } = await stack.createSite({ domain: 'twice.test' })
    const first = await desk.deploy(siteId, { 'a.txt': 'one' })
    const second = await desk.deploy(siteId, { 'a.txt': 'two' })
    await desk.activate(siteId, first)
    // It is current already: nothing becomes of it.
    await desk.activate(siteId, first)
    const { json } = await stack.portal('GET', `/sites/${siteId}/deployments/${first}`)
    expect(json.activations).toMatchObject([
      { replacedDeploymentId: second, fileChanges: { added: 0, changed: 1, removed: 0 } },
      { replacedDeploymentId: null },
    ])
    expect(json.activatedAt).toBe(json.activations[0].activatedAt)
  })

  test('is of one site', async () => {
    const mine = await stack.createSite({ domain: 'mine.test' })
    const theirs = await stack.createSite({ domain: 'theirs.test' })
    const deploymentId = await desk.deploy(mine.siteId, { a: 'x' })
    expect((await stack.portal('GET', '/sites/theirs.test/deployments')).json.items).toEqual([])
    const path = `/sites/${theirs.siteId}/deployments/${deploymentId}`
    expect((await stack.portal('GET', path)).status).toBe(404)
  })

  test.each([
    ['a commit that is none', { ...GIT, commit: 'HEAD' }],
    ['a branch with a line break', { ...GIT, branch: 'a\nb' }],
    ['no word of changes', { commit: GIT.commit, branch: 'main' }],
    ['more than it knows', { ...GIT, author: 'ann' }],
  ])('takes no git state with %s', async (_what, git) => {
    const { siteId } = await stack.createSite({ domain: `git-${randomUUID()}.test` })
    const begun = await desk.begin(siteId, { a: 'x' }, { git })
    expect(begun).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { DeployDesk } from '#test/deploy-desk.ts'
import { ended } from '#test/iac.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const CODE = `export default (_input, { env }) => env.API_KEY ?? null`

let stack: Stack
let site: RuntimeSite
let neighbour: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  neighbour = await RuntimeSite.open(stack, 'two.test')
  await site.admin('PUT', '/env-vars', { variables: { API_KEY: { value: 'k' } } })
})
afterAll(() => stack[Symbol.asyncDispose]())

const functionNaming = (name: string, environment: readonly string[], code = CODE) => ({
  type: 'lambdaFunction',
  name,
  config: { code, environment },
})

const submit = (definition: object, { mode = 'apply', on = site } = {}) =>
  on.admin('POST', '/iac/jobs', { mode, definition, confirm: mode === 'replace' })

const REFUSED = {
  code: 'ValidationError',
  details: [
    {
      field: 'resources[0].config.environment[1]',
      message:
        'environment variable "API_KYE" is neither in the definition nor on the site: did you mean "API_KEY"?',
    },
  ],
}

describe('a function that names a variable', () => {
  test.each(['apply', 'plan', 'replace'])('that is not there is refused by %s', async (mode) => {
    const definition = { resources: [functionNaming('typo', ['API_KEY', 'API_KYE'])] }
    const { status, json } = await submit(definition, { mode })
    expect({ status, error: json.error }).toMatchObject({ status: 400, error: REFUSED })
    const { resources } = (await site.admin('GET', '/resources')).json
    expect(resources.map(({ name }: { name: string }) => name)).not.toContain('typo')
  })

  test('that another site has is refused', async () => {
    const { status, json } = await submit(
      { resources: [functionNaming('foreign', ['API_KEY'])] },
      { on: neighbour },
    )
    expect(status).toBe(400)
    expect(json.error.details[0].message).toBe(
      'environment variable "API_KEY" is neither in the definition nor on the site',
    )
  })

  test('that the site has, or the same definition sets, is applied', async () => {
    const { status, json } = await submit({
      resources: [functionNaming('reader', ['API_KEY', 'NEW_ONE'])],
      envVars: [{ name: 'NEW_ONE', value: 'x' }],
    })
    expect(status).toBe(200)
    expect((await ended(site, json.jobId)).json).toMatchObject({ status: 'succeeded' })
  })

  test('that replace would delete keeps it', async () => {
    const kept = { resources: [functionNaming('reader', ['API_KEY', 'NEW_ONE'])] }
    const sent = await submit({ ...kept, envVars: [{ name: 'API_KEY' }] }, { mode: 'replace' })
    expect(sent.status).toBe(400)
    expect(sent.json.error.details).toEqual([
      expect.objectContaining({ field: 'resources[0].config.environment[1]' }),
    ])
  })

  test('that failed before goes on doing so, and the site is warned', async () => {
    await site.putFunction('early', CODE, { environment: ['LATER'] })
    const changed = `${CODE} // changed`
    const { status, json, text } = await submit({
      resources: [functionNaming('early', ['LATER'], changed)],
    })
    expect(status, text).toBe(200)
    expect((await ended(site, json.jobId)).json).toMatchObject({ status: 'succeeded' })
    const { items } = (await site.admin('GET', '/logs?limit=100')).json
    expect(items.map(({ message }: { message: string }) => message)).toContain(
      'Function "early" names environment variables that are not set: LATER',
    )
    const other = { resources: [functionNaming('early', ['LATER', 'OTHER'], changed)] }
    expect((await submit(other)).json.error.details).toEqual([
      expect.objectContaining({ field: 'resources[0].config.environment[1]' }),
    ])
  })

  test('that is not there is refused by a deployment, at its line', async () => {
    const desk = new DeployDesk(stack)
    const croft = `{
  "resources": [
    { "type": "lambdaFunction", "name": "shipped",
      "config": { "artifact": "shipped.js", "environment": ["API_KYE"] } }
  ]
}`
    const { answer } = await desk.attempt('one.test', { 'shipped.js': CODE, 'croft.json': croft })
    expect(answer.status).toBe(400)
    expect(answer.json.error).toMatchObject({
      code: 'ValidationError',
      message: expect.stringMatching(/^croft\.json, line 4: .*did you mean "API_KEY"\?/),
    })
    const fixed = croft.replace('API_KYE', 'API_KEY')
    const again = await desk.attempt('one.test', { 'shipped.js': CODE, 'croft.json': fixed })
    expect(again.answer.status, again.answer.text).toBe(200)
  })
})

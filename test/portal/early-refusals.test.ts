import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: [] })
})
afterAll(() => stack[Symbol.asyncDispose]())

const MIB = 1024 * 1024
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Announces these files and, of each directory, eleven of a megabyte that are never sent. */
async function begin(site: string, definition: string | undefined, directory: string) {
  await stack.createSite({ domain: site, superAdmins: [`ann@${site}`] })
  const large = Array.from({ length: 11 }, (_, at) => ({
    path: `${directory}/m${at}.js`,
    sha256: sha256(`${site} ${at}`),
    sizeBytes: MIB,
  }))
  const small =
    definition === undefined
      ? []
      : [{ path: 'croft.json', sha256: sha256(definition), sizeBytes: definition.length }]
  const body = { buildYml: 'ARTIFACT_DIR: dist', files: [...small, ...large] }
  return stack.portal('POST', `/sites/${site}/deployments`, body)
}

const put = (site: string, deploymentId: string, text: string) =>
  stack.call(
    'localhost',
    'PUT',
    `/portal/api/sites/${site}/deployments/${deploymentId}/files/${sha256(text)}`,
    {
      token: stack.operatorKey,
      headers: { 'content-type': 'application/octet-stream' },
      body: new TextEncoder().encode(text),
    },
  )

const TOO_MUCH = {
  status: 400,
  json: {
    error: {
      code: 'InvalidArtifact',
      message: expect.stringMatching(/scripts and JSON have 11534\d+ bytes together: 10485760 are/),
    },
  },
}
const statusesOf = async (site: string) =>
  (await stack.portal('GET', `/sites/${site}/deployments`)).json.items.map(
    ({ status }: { status: string }) => status,
  )

describe('a deployment with too much code', () => {
  test('is refused when it begins, where no definition says what is public', async () => {
    expect(await begin('begins.test', undefined, 'lib')).toMatchObject(TOO_MUCH)
    expect(await statusesOf('begins.test')).toEqual(['failed'])
  })

  test('is refused with its definition, before anything else is sent', async () => {
    const definition = '{"groups":[]}'
    const begun = await begin('defined.test', definition, 'lib')
    expect(begun.status).toBe(200)
    expect(await put('defined.test', begun.json.deploymentId, definition)).toMatchObject(TOO_MUCH)
    expect(await statusesOf('defined.test')).toEqual(['failed'])
    // What is known of the definition now is known at the next beginning.
    const body = { buildYml: 'ARTIFACT_DIR: dist', files: [] as object[] }
    body.files = [
      { path: 'croft.json', sha256: sha256(definition), sizeBytes: definition.length },
      { path: 'lib/a.js', sha256: sha256('a'), sizeBytes: 11 * MIB },
    ]
    expect(await stack.portal('POST', '/sites/defined.test/deployments', body)).toMatchObject(
      TOO_MUCH,
    )
  })

  test('goes on where that code is public', async () => {
    const definition = '{"static":{"directory":"public"}}'
    const begun = await begin('public.test', definition, 'public')
    expect(begun.status).toBe(200)
    expect((await put('public.test', begun.json.deploymentId, definition)).status).toBe(204)
    expect(await statusesOf('public.test')).toEqual(['uploading'])
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { CroftProcess } from '#test/croft-process.ts'
import { killableService } from '#test/killable-service.ts'

/** Before the rest of a refused body was read, six of ten clients got no response. */
const TIMES = 8
const LARGE = new Uint8Array(60_000_000).fill(0x20)
const JSON_TYPE = { 'content-type': 'application/json' }

let croft: CroftProcess
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  croft = await (await killableService(cleanUp)).start()
  // It answers before its first site does.
  await croft.until('the site answers', async () => (await croft.hello('Ada')).status === 200)
})
afterAll(() => cleanUp.disposeAsync())

const inChunks = () => {
  let sent = 0
  return new ReadableStream({
    pull(controller) {
      if (sent++ < 60) controller.enqueue(LARGE.subarray(0, 1_000_000))
      else controller.close()
    },
  })
}

interface Upload {
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** Status and error code, or the code of the failure. */
async function refusal({ path, ...init }: Upload, body: RequestInit['body']): Promise<string> {
  try {
    const url = `http://localhost:${croft.port}${path}`
    const response = await fetch(url, { ...init, body, duplex: 'half' })
    const { error } = (await response.json()) as { error: { code: string } }
    return `${response.status} ${error.code}`
  } catch (error) {
    return String((error as { cause?: { code?: string } }).cause?.code ?? error)
  }
}

const many = async (upload: Upload, newBody: () => RequestInit['body']): Promise<string[]> => {
  const seen = new Set<string>()
  for (let count = 0; count < TIMES; count++) seen.add(await refusal(upload, newBody()))
  return [...seen]
}

const CALL: Upload = { method: 'POST', path: '/data/public/hello', headers: JSON_TYPE }
const ADMIN: Upload = { method: 'POST', path: '/admin/data/resources', headers: JSON_TYPE }
const TEXT: Upload = { ...CALL, headers: { 'content-type': 'text/plain' } }
const OBJECT: Upload = { method: 'PUT', path: '/objects/abc?signature=none', headers: {} }
const NOWHERE: Upload = { method: 'POST', path: '/nowhere', headers: JSON_TYPE }

describe('the service on Bun tells a client that is still sending', () => {
  test.each([
    ['a call whose payload is too long', CALL, '413 PayloadTooLarge'],
    ['an admin’s request that is too long', ADMIN, '413 PayloadTooLarge'],
    ['a call that is no JSON', TEXT, '413 PayloadTooLarge'],
    ['an upload with a forged signature', OBJECT, '403 Forbidden'],
    ['a body for no route', NOWHERE, '404 RouteNotFound'],
  ])('%s', async (_what, upload, expected) => {
    expect(await many(upload, () => LARGE)).toEqual([expected])
  })

  test.each([
    ['a call whose payload is too long', CALL, '413 PayloadTooLarge'],
    ['an admin’s request without a token', ADMIN, '401 Unauthorized'],
    ['a body for no route', NOWHERE, '404 RouteNotFound'],
  ])('%s, in chunks', async (_what, upload, expected) => {
    expect(await many(upload, inChunks)).toEqual([expected])
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Answer } from '#test/http-client.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const UPLOAD = { preset: 's3.presign-put-object' }
let stack: Stack
let serial = 0
beforeAll(async () => {
  stack = await startStack({ sites: [], config: { trustedProxies: ['127.0.0.1'] } })
})
afterAll(() => stack[Symbol.asyncDispose]())

/** A site with a quota of its own, whose strangers and visitors are given upload URLs. */
class UploadSite {
  readonly site: RuntimeSite
  readonly #bucket: string

  private constructor(site: RuntimeSite, bucket: string) {
    this.site = site
    this.#bucket = bucket
  }

  static async open(limits: object): Promise<UploadSite> {
    const site = await RuntimeSite.create(stack, `uploads${serial++}.test`)
    const { siteId } = await stack.context.sites.find(site.host)
    await stack.context.sites.update(siteId, { deploymentSettings: { limits } })
    const made = await site.admin('POST', '/resources', { type: 's3Bucket', name: 'files' })
    const { resourceId } = made.json
    const open = { auth: { mode: 'public' } }
    await site.putOperation('upload', { preset: { ...UPLOAD, resourceId }, ...open })
    await site.putOperation('myUpload', { preset: { ...UPLOAD, resourceId, owner: true } })
    await site.publish(
      'around',
      'export default ({ payload }, ctx) => ctx.operation("upload", payload)',
    )
    return new UploadSite(site, resourceId)
  }

  from(address: string, sizeBytes: number | undefined, operation = 'upload'): Promise<Answer> {
    const body = JSON.stringify({ payload: wanted(sizeBytes) })
    return this.site.send(`/data/public/${operation}`, body, { 'x-forwarded-for': address })
  }

  async as(user: string, sizeBytes: number, key?: string): Promise<Answer> {
    const token = await stack.dataToken(this.site.host, { user: `${user}@visitors.test` })
    return this.site.callAs(token, 'myUpload', wanted(sizeBytes, key))
  }

  admin(action: string, body: object): Promise<Answer> {
    return this.site.admin('POST', `/resources/${this.#bucket}/data/s3/${action}`, body)
  }
}

const wanted = (sizeBytes: number | undefined, key = `file ${serial++}`) => ({
  key,
  contentType: 'text/plain',
  sizeBytes,
})

/** Does what an answer of `presign-put-object` allows. */
function put(signed: Answer, sizeBytes: number): Promise<Answer> {
  const { url, method, headers } = signed.json.data
  const { host, pathname, search } = new URL(url)
  return stack.call(host, method, pathname + search, { headers, body: 'x'.repeat(sizeBytes) })
}

const refusal = (name: string) => ({
  code: 'TooManyRequests',
  retryable: true,
  limit: expect.objectContaining({ name }),
})

describe('what open upload URLs of presets reserve', () => {
  test('is an eighth of the quota for the strangers of one network', async () => {
    const uploads = await UploadSite.open({ bucketBytes: 8000 })
    expect((await uploads.from('203.0.113.7', 900)).status).toBe(200)
    const refused = await uploads.from('203.0.113.7', 101)
    expect(refused.status).toBe(429)
    expect(refused.json.error).toMatchObject(refusal('openUploadsOfOneCaller'))
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await uploads.from('203.0.113.7', 100)).status).toBe(200)
    expect((await uploads.from('203.0.113.8', 1000)).status).toBe(200)
    expect((await uploads.from('2001:db8:0:1::1', 1000)).status).toBe(200)
    expect((await uploads.from('2001:db8:0:1::2', 1)).status).toBe(429)
  })

  test('counts a stranger who asks through a function by the same network', async () => {
    const uploads = await UploadSite.open({ bucketBytes: 8000 })
    expect((await uploads.from('203.0.113.7', 1000, 'around')).status).toBe(200)
    expect((await uploads.from('203.0.113.7', 1)).status).toBe(429)
    expect((await uploads.from('203.0.113.8', 1, 'around')).status).toBe(200)
  })

  test('is an eighth for a user and half for all, and leaves the rest to the site', async () => {
    const uploads = await UploadSite.open({ bucketBytes: 8000 })
    for (const user of ['ann', 'bob', 'kim', 'lee']) {
      expect((await uploads.as(user, 1000)).status).toBe(200)
      expect((await uploads.as(user, 1)).status).toBe(429)
    }
    const refused = await uploads.as('moe', 1)
    expect(refused.json.error).toMatchObject(refusal('openUploadsOfVisitors'))
    expect((await uploads.from('203.0.113.7', 1)).status).toBe(429)
    expect((await uploads.admin('presign-put-object', wanted(4000))).status).toBe(200)
  })

  test('counts a key once, and not what is stored under it already', async () => {
    const uploads = await UploadSite.open({ bucketBytes: 8000 })
    for (let asked = 0; asked < 3; asked += 1) {
      expect((await uploads.as('ann', 1000, 'photo')).status).toBe(200)
    }
    const signed = await uploads.as('ann', 1000, 'photo')
    expect((await uploads.as('ann', 1)).status).toBe(429)
    expect((await put(signed, 1000)).status).toBe(200)
    expect((await uploads.as('ann', 1000)).status).toBe(200)
  })

  test('is what arrives, where the length was not known before', async () => {
    const uploads = await UploadSite.open({ bucketBytes: 8000 })
    const [one, other] = await Promise.all([
      uploads.from('203.0.113.7', undefined),
      uploads.from('203.0.113.8', undefined),
    ])
    expect((await uploads.from('203.0.113.7', 1000)).status).toBe(200)
    const refused = await put(one, 1)
    expect(refused.status).toBe(429)
    expect(refused.json.error).toMatchObject(refusal('openUploadsOfOneCaller'))
    expect((await put(other, 1001)).status).toBe(429)
    expect((await put(other, 1000)).status).toBe(200)
    expect((await put(other, 1000)).status).toBe(200)
  })

  test('bounds how many there are', async () => {
    const uploads = await UploadSite.open({ bucketObjects: 80 })
    for (let asked = 0; asked < 10; asked += 1) {
      expect((await uploads.as('ann', 0, 'same')).status).toBe(200)
    }
    const refused = await uploads.as('ann', 0, 'same')
    expect(refused.json.error).toMatchObject(refusal('openUploadsOfOneCaller'))
  })
})

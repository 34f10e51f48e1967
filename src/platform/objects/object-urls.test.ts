import { describe, expect, test } from 'vitest'

import { ObjectUrls, type UrlGrant } from './object-urls.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const GRANT: UrlGrant = {
  method: 'GET',
  key: 'sites/one/buckets/b/a',
  expiresAt: new Date(NOW.getTime() + 60_000),
}
let now = NOW
const urlsOf = (key: number) =>
  new ObjectUrls({
    key: Buffer.alloc(32, key),
    baseUrlOf: (siteId) => `https://${siteId}.test`,
    clock: { now: () => now },
  })
const urls = urlsOf(1)

/** Asks as a client does that has the URL, and changes it. */
async function opened(
  asked: { readonly method?: string; readonly siteId?: string; readonly by?: ObjectUrls },
  change: (query: URLSearchParams) => void = () => {},
  grant = GRANT,
) {
  const { url } = await urls.sign(grant)
  const { pathname, searchParams } = new URL(url)
  change(searchParams)
  const { method = 'GET', siteId = 'one', by = urls } = asked
  const encodedKey = pathname.slice('/objects/'.length)
  return by.open({ encodedKey, method, siteId }, searchParams)
}

describe('a signed URL', () => {
  test.each(['GET', 'HEAD'])('opens what it was signed for: %s', async (method) => {
    expect(await opened({ method })).toEqual({ grant: GRANT })
  })

  test.each([
    ['for writing', { method: 'PUT' }, 'otherMethod'],
    ['for deleting', { method: 'DELETE' }, 'otherMethod'],
    ['at another site', { siteId: 'two' }, 'otherSite'],
    ['at a site whose id has the same prefix', { siteId: 'on' }, 'otherSite'],
    ['with another key of the installation', { by: urlsOf(2) }, 'forged'],
  ])('is refused %s', async (_where, asked, refused) => {
    expect(await opened(asked)).toEqual({ refused })
  })

  test('for writing reads nothing', async () => {
    const grant = { ...GRANT, method: 'PUT', sizeBytes: 1 } as const
    expect(await opened({ method: 'PUT' }, undefined, grant)).toEqual({ grant })
    expect(await opened({ method: 'GET' }, undefined, grant)).toEqual({ refused: 'otherMethod' })
  })

  test.each([
    ['expires', '9999999999'],
    ['method', 'PUT'],
    ['name', 'a.html'],
    ['type', 'text/html'],
    ['size', '1'],
    ['max', '1'],
    ['for', 'two'],
    ['signature', ''],
    ['signature', 'AAAA'],
  ])('is refused when its %s was changed to "%s"', async (name, value) => {
    expect(await opened({}, (query) => query.set(name, value))).toEqual({ refused: 'forged' })
  })

  test('ends at its time', async () => {
    now = GRANT.expiresAt
    expect(await opened({})).toEqual({ refused: 'expired' })
    now = NOW
  })
})

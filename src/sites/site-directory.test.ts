import { describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'

import { SiteDirectory, type SiteEntry } from './site-directory.ts'

const entry = (domain: string, siteId = `site_${domain}`): SiteEntry => ({
  siteId,
  domain,
  region: 'eu-central-1',
  adminDomain: null,
  authDomain: null,
  formerAuthDomains: [],
  corsOrigins: [],
  consoleHost: undefined,
  host: domain,
})

/** A directory over a table whose reads end when the test says so. */
function directoryOf(table: Map<string, SiteEntry>) {
  const loads: string[] = []
  const gates: (() => void)[] = []
  const directory = new SiteDirectory(async (domain) => {
    loads.push(domain)
    const found = table.get(domain)
    if (gates.length > 0) await new Promise<void>((resolve) => gates.push(resolve))
    return found
  })
  return { directory, loads, gates }
}

describe('the site directory', () => {
  test('answers from memory, without a promise, once it has loaded a site', async () => {
    const { directory, loads } = directoryOf(new Map([['shop.test', entry('shop.test')]]))
    expect(await directory.byHost('Shop.Test.:8080')).toEqual(entry('shop.test'))
    expect(directory.byHost('shop.test')).toEqual(entry('shop.test'))
    expect(loads).toEqual(['shop.test'])
  })

  test('loads a site once for everyone who asks at the same time', async () => {
    const { directory, loads } = directoryOf(new Map([['shop.test', entry('shop.test')]]))
    await Promise.all([directory.byHost('shop.test'), directory.byHost('shop.test:1')])
    expect(loads).toEqual(['shop.test'])
  })

  test('remembers for a moment that no site has a name', async () => {
    const { directory, loads } = directoryOf(new Map())
    expect(await directory.byHost('none.test')).toBeUndefined()
    expect(directory.byHost('none.test')).toBeUndefined()
    expect(loads).toEqual(['none.test'])
  })

  test.each(['', '127.0.0.1:8080', '[::1]:80', 'a b', '../x'])('loads nothing for %j', (host) => {
    const { directory, loads } = directoryOf(new Map())
    expect(directory.byHost(host)).toBeUndefined()
    expect(loads).toEqual([])
  })

  test('loads again what was invalidated', async () => {
    const table = new Map([['shop.test', entry('shop.test', 'site_1')]])
    const { directory } = directoryOf(table)
    await directory.byHost('shop.test')
    table.set('shop.test', entry('shop.test', 'site_2'))
    directory.invalidate(['shop.test'])
    expect(await directory.byHost('shop.test')).toMatchObject({ siteId: 'site_2' })
    table.delete('shop.test')
    directory.doubtAll()
    expect(await directory.byHost('shop.test')).toBeUndefined()
  })

  test('returns a doubted entry only where the database is away, and nothing unknown then', async () => {
    const away = new AppError('ServiceUnavailable', 'away')
    let isAway = false
    const directory = new SiteDirectory(async (domain) => {
      if (isAway) throw away
      return entry(domain)
    })
    await directory.byHost('shop.test')
    directory.doubtAll()
    expect(directory.inMemory('shop.test')).toBeUndefined()
    isAway = true
    expect(await directory.byHost('shop.test')).toEqual(entry('shop.test'))
    expect(directory.inMemory('shop.test')).toBeUndefined()
    await expect(directory.byHost('other.test')).rejects.toBe(away)
    isAway = false
    await directory.byHost('shop.test')
    expect(directory.inMemory('shop.test')).toEqual(entry('shop.test'))
  })

  test('does not keep what it read before a change', async () => {
    const table = new Map([['shop.test', entry('shop.test', 'site_1')]])
    const { directory, gates } = directoryOf(table)
    gates.push(() => {})
    const slow = directory.byHost('shop.test')
    table.set('shop.test', entry('shop.test', 'site_2'))
    directory.invalidate(['shop.test'])
    gates.splice(0).forEach((open) => open())
    expect(await slow).toMatchObject({ siteId: 'site_1' })
    expect(await directory.byHost('shop.test')).toMatchObject({ siteId: 'site_2' })
  })
})

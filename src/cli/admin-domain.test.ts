import { describe, expect, test } from 'vitest'

import { resolvingAdminDomain } from './admin-domain.ts'

const ZONE: Readonly<Record<string, readonly string[]>> = {
  'shop.test': ['192.0.2.1', '2001:db8::1'],
  'admin.shop.test': ['2001:db8::1'],
  'elsewhere.test': ['192.0.2.1'],
  'admin.elsewhere.test': ['192.0.2.9'],
  'alone.test': ['192.0.2.1'],
  'admin.unborn.test': ['192.0.2.1'],
}

const asked = async (name: string): Promise<readonly string[]> => {
  const addresses = ZONE[name]
  if (!addresses) throw new Error('ENOTFOUND')
  return addresses
}

describe('the administration of a new site', () => {
  test.each([
    ['shop.test', 'admin.shop.test'],
    ['elsewhere.test', null],
    ['alone.test', null],
    ['unborn.test', null],
    ['nowhere.test', null],
  ])('of %s is at %s', async (domain, name) => {
    expect(await resolvingAdminDomain(domain, asked)).toBe(name)
  })

  test('is on a domain that nobody knows', async () => {
    expect(await resolvingAdminDomain('nobody-has-this-name.invalid')).toBeNull()
  })
})

import { describe, expect, test } from 'vitest'

import { resolvingName } from './own-names.ts'

const ZONE: Readonly<Record<string, readonly string[]>> = {
  'shop.test': ['192.0.2.1', '2001:db8::1'],
  'admin.shop.test': ['2001:db8::1'],
  'auth.shop.test': ['192.0.2.1'],
  'elsewhere.test': ['192.0.2.1'],
  'admin.elsewhere.test': ['192.0.2.9'],
  'auth.elsewhere.test': ['192.0.2.9'],
  'alone.test': ['192.0.2.1'],
  'admin.unborn.test': ['192.0.2.1'],
  'auth.unborn.test': ['192.0.2.1'],
  localhost: ['127.0.0.1'],
  'admin.localhost': ['127.0.0.1'],
  'auth.localhost': ['127.0.0.1'],
  'shop.localhost': ['127.0.0.1'],
  'admin.shop.localhost': ['127.0.0.1'],
  'auth.shop.localhost': ['127.0.0.1'],
}

const asked = async (name: string): Promise<readonly string[]> => {
  const addresses = ZONE[name]
  if (!addresses) throw new Error('ENOTFOUND')
  return addresses
}

describe.each(['admin', 'auth'] as const)('the name %s.… of a new site', (label) => {
  test.each([
    ['shop.test', `${label}.shop.test`],
    ['elsewhere.test', null],
    ['alone.test', null],
    ['unborn.test', null],
    ['nowhere.test', null],
    ['localhost', null],
    ['shop.localhost', null],
  ])('at %s is %s', async (domain, name) => {
    expect(await resolvingName(label, domain, asked)).toBe(name)
  })

  test('is none at a domain that does not exist', async () => {
    expect(await resolvingName(label, 'nobody-has-this-name.invalid')).toBeNull()
  })
})

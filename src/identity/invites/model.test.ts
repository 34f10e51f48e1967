import { describe, expect, test } from 'vitest'

import { hashSecret } from '#identity/hash-secret.ts'

import { onboardingUrl } from './model.ts'

describe('an invite', () => {
  test.each([
    ['super-admin', 'https://one.test/admin/public/onboarding/super-admin?token=t0k-en'],
    ['admin', 'https://one.test/admin/public/onboarding/user?token=t0k-en'],
    ['user', 'https://one.test/admin/public/onboarding/user?token=t0k-en'],
  ] as const)('leads a %s to the page of the role', (role, url) => {
    expect(onboardingUrl('https://one.test', role, 't0k-en')).toBe(url)
  })

  test('is stored as 32 bytes that do not contain it', () => {
    const hash = hashSecret('t0k-en')
    expect(hash).toHaveLength(32)
    expect(hash.includes('t0k-en')).toBe(false)
  })
})

import { expect, test } from 'vitest'

import { senderVerdict } from './sender-verdict.ts'

test.each([
  ['pass', 'pass', 'pass', 'genuine'],
  ['fail', 'pass', 'pass', 'genuine'],
  ['pass', 'pass', 'fail', 'forged'],
  ['pass', 'none', 'none', 'likely'],
  ['none', 'pass', 'none', 'likely'],
  ['fail', 'none', 'none', 'forged'],
  ['none', 'fail', 'none', 'forged'],
  ['softfail', 'none', 'none', 'unknown'],
  ['none', 'none', 'none', 'unknown'],
  ['temperror', 'temperror', 'temperror', 'unknown'],
])('SPF %s, DKIM %s, DMARC %s: the sender is %s', (spf, dkim, dmarc, verdict) => {
  expect(senderVerdict({ spf, dkim, dmarc })).toBe(verdict)
})

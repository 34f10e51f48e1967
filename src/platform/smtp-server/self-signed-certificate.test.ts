import { X509Certificate, createPrivateKey } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { selfSignedCertificate } from './self-signed-certificate.ts'

describe('a certificate of our own', () => {
  test.each([
    ['2026-11-23T12:00:00Z', 2036],
    ['2045-01-01T00:00:00Z', 2055],
  ])('made at %s is for the host name, by its own key, until %i', (now, until) => {
    const { key, cert } = selfSignedCertificate('mx.croft.test', new Date(now))
    const certificate = new X509Certificate(cert)
    expect(certificate.checkHost('mx.croft.test')).toBe('mx.croft.test')
    expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true)
    expect(certificate.verify(certificate.publicKey)).toBe(true)
    expect(certificate.validFromDate).toEqual(new Date(now))
    expect(certificate.validToDate.getUTCFullYear()).toBe(until)
  })

  test('is another one each time', () => {
    const [one, two] = [1, 2].map(() => selfSignedCertificate('localhost', new Date()).cert)
    expect(one).not.toBe(two)
  })
})

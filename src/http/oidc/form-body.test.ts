import { describe, expect, test } from 'vitest'

import { randomIds } from '#base/ids.ts'
import { RequestScopes } from '#http/request-scope.ts'

import { readForm } from './form-body.ts'

const scopes = new RequestScopes([], randomIds)

function received(request: Request): Request {
  scopes.open(request, { address: '203.0.113.1' })
  return request
}

const sent = (body: string, type = 'application/x-www-form-urlencoded') =>
  received(
    new Request('http://one.test/login', {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    }),
  )

describe('a form', () => {
  test('gives its fields, decoded', async () => {
    const fields = await readForm(
      sent(
        'username=a%40b.test&password=+%C3%A4%26',
        `${'application/x-www-form-urlencoded'}; charset=UTF-8`,
      ),
    )
    expect([...fields]).toEqual([
      ['username', 'a@b.test'],
      ['password', ' ä&'],
    ])
  })

  test.each([
    ['of another type', () => sent('{}', 'application/json'), 'UnsupportedMediaType'],
    ['in parts', () => sent('a=1', 'multipart/form-data; boundary=x'), 'UnsupportedMediaType'],
    ['of unnamed type', () => sent('a=1', ''), 'UnsupportedMediaType'],
    ['with a field twice', () => sent('a=1&b=2&a=1'), 'ValidationError'],
    ['with the same field spelled otherwise', () => sent('a=1&%61=2'), 'ValidationError'],
    [
      'with too many fields',
      () => sent(Array.from({ length: 51 }, (_, at) => `f${at}=`).join('&')),
      'ValidationError',
    ],
    ['that is too long', () => sent(`a=${'x'.repeat(64 * 1024)}`), 'PayloadTooLarge'],
  ])('%s is refused', async (_what, request, code) => {
    await expect(readForm(request())).rejects.toMatchObject({ code })
  })

  test('that comes in pieces without a length is refused where it gets too long', async () => {
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(16 * 1024))
      },
    })
    const request = received(
      new Request('http://one.test/login', {
        method: 'POST',
        body: endless,
        duplex: 'half',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      } as RequestInit),
    )
    await expect(readForm(request)).rejects.toMatchObject({ code: 'PayloadTooLarge' })
    expect(pulled).toBeLessThan(10)
  })
})

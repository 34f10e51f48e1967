import { describe, expect, test } from 'vitest'

import { forwardPath, isReturnPath, reversePath } from './srs.ts'

const KEY = Buffer.from('a key of the first forwarder')
const OTHER = Buffer.from('a key of the second forwarder')
const NOW = new Date('2026-03-01T12:00:00Z')
const DAY_MS = 24 * 3_600_000
const later = (days: number): Date => new Date(NOW.getTime() + days * DAY_MS)

describe('SRS0', () => {
  test('carries the author, and leads back', () => {
    const path = forwardPath(KEY, 'Ann.Lee@author.test', NOW)
    expect(path).toMatch(/^SRS0=[a-z2-7]{8}=[a-z2-7]{2}=author\.test=Ann\.Lee$/)
    expect(reversePath(KEY, path, later(3))).toEqual({ address: 'Ann.Lee@author.test' })
  })

  test('leads back when a server has changed its case, or its first separator is another', () => {
    const path = forwardPath(KEY, 'ann@author.test', NOW)
    expect(reversePath(KEY, path.toUpperCase(), NOW)).toEqual({ address: 'ANN@AUTHOR.TEST' })
    expect(reversePath(KEY, path.replace('SRS0=', 'srs0+'), NOW)).toEqual({
      address: 'ann@author.test',
    })
  })

  test('keeps signs of its own in the author', () => {
    const path = forwardPath(KEY, 'a=b=c+d-e@author.test', NOW)
    expect(reversePath(KEY, path, NOW)).toEqual({ address: 'a=b=c+d-e@author.test' })
  })

  test.each([
    ['another author', (path: string) => path.replace('ann', 'eve')],
    ['another domain', (path: string) => path.replace('author', 'evil')],
    ['another time', (path: string) => path.replace(/=..=author/, '=zz=author')],
    ['no hash', (path: string) => path.replace(/=[a-z2-7]{8}=/, '==')],
    ['a shorter hash', (path: string) => path.replace(/=([a-z2-7]{4})[a-z2-7]{4}=/, '=$1=')],
    ['another hash', (path: string) => path.replace(/=[a-z2-7]{8}=/, '=aaaaaaaa=')],
    ['parts moved', (path: string) => path.replace('author.test=ann', 'author.tes=t=ann')],
    ['no author', () => 'SRS0=aaaaaaaa=bb=author.test='],
    ['nothing', () => 'SRS0='],
  ])('is forged with %s', (_, change) => {
    const path = forwardPath(KEY, 'ann@author.test', NOW)
    expect(reversePath(KEY, change(path), NOW)).toEqual({ fault: 'forged' })
    expect(reversePath(OTHER, path, NOW)).toEqual({ fault: 'forged' })
  })

  test('expires after three weeks, and not at the turn of its thousand days', () => {
    const path = forwardPath(KEY, 'ann@author.test', NOW)
    expect(reversePath(KEY, path, later(21))).toHaveProperty('address')
    expect(reversePath(KEY, path, later(22))).toEqual({ fault: 'expired' })
    expect(reversePath(KEY, path, later(-1))).toEqual({ fault: 'expired' })
    const turn = new Date(DAY_MS * 1024 * 20 - 1000)
    const atTurn = forwardPath(KEY, 'ann@author.test', turn)
    expect(reversePath(KEY, atTurn, new Date(turn.getTime() + 2 * DAY_MS))).toHaveProperty(
      'address',
    )
  })
})

describe('SRS1', () => {
  test('leads from the third forwarder to the first, whose path is untouched', () => {
    const first = `${forwardPath(KEY, 'ann@author.test', NOW)}@one.test`
    const second = forwardPath(OTHER, first, NOW)
    expect(second).toMatch(/^SRS1=[a-z2-7]{8}=one\.test==[a-z2-7]{8}=..=author\.test=ann$/)
    const third = forwardPath(KEY, `${second}@two.test`, NOW)
    expect(third).toMatch(/^SRS1=[a-z2-7]{8}=one\.test==/)
    expect(reversePath(KEY, third, NOW)).toEqual({ address: first })
    expect(reversePath(OTHER, second, NOW)).toEqual({ address: first })
  })

  test('keeps what another forwarder wrote', () => {
    const path = forwardPath(KEY, 'SRS0-Ab/1=T2=author.test=ann@one.test', NOW)
    expect(path).toMatch(/^SRS1=[a-z2-7]{8}=one\.test=-Ab\/1=T2=author\.test=ann$/)
    expect(reversePath(KEY, path, NOW)).toEqual({
      address: 'SRS0-Ab/1=T2=author.test=ann@one.test',
    })
  })

  test('is forged for another first forwarder', () => {
    const path = forwardPath(KEY, 'SRS0=x=y=author.test=ann@one.test', NOW)
    expect(reversePath(KEY, path.replace('one.test', 'two.test'), NOW)).toEqual({ fault: 'forged' })
  })
})

test('others are no return paths', () => {
  for (const local of ['ann', 'srs0', 'srs2=a', 'xsrs0=a']) expect(isReturnPath(local)).toBe(false)
  for (const local of ['SRS0=a', 'srs1+b', 'SRS0-']) expect(isReturnPath(local)).toBe(true)
})

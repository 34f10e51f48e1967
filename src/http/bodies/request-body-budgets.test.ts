import { describe, expect, test } from 'vitest'

import { RequestBodyBudgets } from './request-body-budgets.ts'

const MIB = 1024 * 1024

/** Bodies that are being received while a clock of their own is stopped, and which of them were ended. */
function hall() {
  let nowMs = 0
  const bodies = new RequestBodyBudgets(() => nowMs)
  const ended: string[] = []
  const end = (name: string) => (fault: Error) => ended.push(`${name}: ${fault.message}`)
  const open = (name: string, network: string, host = 'one.test') =>
    bodies.open({ network, host }, end(name))
  const pass = (seconds: number) => {
    nowMs += seconds * 1000
    bodies.sweep()
  }
  return { bodies, ended, end, open, pass }
}

describe('a body that is being received', () => {
  test('is ended when nothing arrives for 30 seconds', () => {
    const { ended, open, pass } = hall()
    const silent = open('silent', 'a')
    const lively = open('lively', 'a')
    silent.received(100_000, 0)
    lively.received(100_000, 0)
    pass(20)
    lively.received(1, 0)
    pass(11)
    expect(ended).toEqual([expect.stringMatching(/^silent: .*send it again$/)])
    pass(20)
    expect(ended).toHaveLength(2)
  })

  test('is ended when it is slower than 500 bytes a second, after 20 seconds of grace', () => {
    const { ended, open, pass } = hall()
    const slow = open('slow', 'a')
    const steady = open('steady', 'a')
    for (let second = 0; second < 25; second += 1) {
      slow.received(50, 0)
      steady.received(500, 0)
      pass(1)
    }
    expect(ended).toEqual([expect.stringMatching(/^slow/)])
    for (let second = 0; second < 600; second += 1) {
      steady.received(500, 0)
      pass(1)
    }
    expect(ended).toHaveLength(1)
  })

  test('takes no time while no more of it is requested', () => {
    const { ended, open, pass } = hall()
    const upload = open('upload', 'a')
    upload.pause()
    pass(3600)
    upload.resume()
    pass(19)
    upload.received(1, 0)
    pass(0.5)
    expect(ended).toEqual([])
    pass(10)
    expect(ended).toHaveLength(1)
  })

  test('that is short has 20 seconds', () => {
    const { bodies, ended, end, pass } = hall()
    bodies.openShort(end('short'))
    const read = bodies.openShort(end('read'))
    read.close()
    pass(19)
    expect(ended).toEqual([])
    pass(2)
    expect(ended).toEqual([expect.stringMatching(/^short/)])
  })

  test('is ended once, and never after its end', () => {
    const { ended, open, pass } = hall()
    const body = open('body', 'a')
    pass(40)
    pass(40)
    body.received(1, 300 * MIB)
    body.close()
    open('other', 'a').received(1, MIB)
    expect(ended).toHaveLength(1)
  })
})

describe('bodies that hold too much together', () => {
  test('make room in their own network first: the one that held most for longest', () => {
    const { ended, open, pass } = hall()
    const neighbour = open('neighbour', 'b', 'two.test')
    neighbour.received(MIB, 60 * MIB)
    const old = open('old', 'a')
    old.received(MIB, 60 * MIB)
    pass(1)
    open('young', 'a').received(MIB, 60 * MIB)
    open('younger', 'a').received(MIB, 10 * MIB)
    expect(ended).toEqual([expect.stringContaining('old: Too much is being received at once')])
  })

  test('make room on their own site next', () => {
    const { ended, open, pass } = hall()
    open('neighbour', 'z', 'two.test').received(MIB, 100 * MIB)
    pass(1)
    for (const network of ['a', 'b', 'c', 'd']) {
      open(network, network).received(MIB, 40 * MIB)
      pass(1)
    }
    expect(ended).toEqual([expect.stringContaining('a: Too much')])
  })

  test('make room in all, and what has ended holds nothing', () => {
    const { ended, open, pass } = hall()
    const left = open('left', 'x', 'x.test')
    left.received(MIB, 100 * MIB)
    left.close()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      open(name, name, `${name}.test`).received(MIB, 50 * MIB)
      pass(1)
    }
    expect(ended).toEqual([expect.stringContaining('a: Too much')])
  })
})
